import type { Client } from '../../runtime/kubernetes/client.ts';
import { eventually } from './eventually.ts';

const group = { group: 'admissionregistration.k8s.io', version: 'v1' };

/**
 * Has the API server itself refuse every update of a namespace's workloads that carry these labels, as somebody's policy
 * may. Resolves once the refusal is in force; gives back how to end it.
 */
export async function refuseChanges(
  client: Client,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const name = `refuse-${namespace}`;
  const policies = { ...group, plural: 'validatingadmissionpolicies' };
  const bindings = { ...group, plural: 'validatingadmissionpolicybindings' };
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] };
  const selectors = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    objectSelector: { matchLabels: labels },
  };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  await client.create(policies, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule], ...selectors },
      validations: [{ expression: 'false', message: 'this workload is frozen' }],
    },
  });
  await client.create(bindings, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  const isRefused = async (): Promise<boolean> => {
    const deployments = { group: 'apps', version: 'v1', plural: 'deployments', namespace };
    const selector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    const { value } = await client.pages(deployments, { labelSelector: selector, limit: 1 }).next();
    const target = value?.items[0]?.metadata.name;
    if (target === undefined) throw new Error('there is no workload to refuse changes of');
    const body = { metadata: { annotations: { probe: 'x' } } };
    return client.patch({ ...deployments, name: target }, { kind: 'merge', body }, { dryRun: true }).then(
      () => false,
      () => true,
    );
  };
  const whenRefused = (expected: boolean) =>
    eventually(async () => {
      if ((await isRefused()) !== expected)
        throw new Error(`changes are ${expected ? 'not refused yet' : 'still refused'}`);
    });
  await whenRefused(true);
  return async () => {
    await client.delete({ ...bindings, name });
    await client.delete({ ...policies, name });
    await whenRefused(false);
  };
}
