import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { eventually } from './eventually.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

const group = { group: 'admissionregistration.k8s.io', version: 'v1' };
const policies = { ...group, plural: 'validatingadmissionpolicies' };
const bindings = { ...group, plural: 'validatingadmissionpolicybindings' };
const apiVersion = 'admissionregistration.k8s.io/v1';

export interface Refusal {
  readonly namespace: string;
  readonly rule: {
    readonly apiGroups: readonly string[];
    readonly apiVersions: readonly string[];
    readonly operations: readonly string[];
    readonly resources: readonly string[];
  };
  readonly message: string;
  /** Labels of the affected objects. Default: all of the namespace. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly isRefused: () => Promise<boolean>;
}

/** Makes the API server refuse some requests, as a cluster administrator's policy may. Returns how to end it. */
export async function refuse(client: Client, name: string, refusal: Refusal): Promise<() => Promise<void>> {
  const { namespace, rule, message, labels, isRefused } = refusal;
  const selectors = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    ...(labels === undefined ? {} : { objectSelector: { matchLabels: labels } }),
  };
  await client.create(policies, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule], ...selectors },
      validations: [{ expression: 'false', message }],
    },
  });
  await client.create(bindings, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  const waitForRefused = (expected: boolean) =>
    eventually(async () => {
      if ((await isRefused()) !== expected)
        throw new Error(`requests are ${expected ? 'not refused yet' : 'still refused'}`);
    });
  await waitForRefused(true);
  return async () => {
    await client.delete({ ...bindings, name });
    await client.delete({ ...policies, name });
    await waitForRefused(false);
  };
}

export function refuseChanges(
  client: Client,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const deployments = { ...kinds.deployments, namespace };
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const isRefused = async (): Promise<boolean> => {
    const { value } = await client.pages(deployments, { labelSelector, limit: 1 }).next();
    const target = value?.items[0]?.metadata.name;
    if (target === undefined) throw new Error('there is no workload to refuse changes of');
    const body = { metadata: { annotations: { probe: 'x' } } };
    return client.patch({ ...deployments, name: target }, { kind: 'merge', body }, { dryRun: true }).then(
      () => false,
      () => true,
    );
  };
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] };
  const message = 'this workload is frozen';
  return refuse(client, `refuse-${namespace}`, { namespace, rule, message, labels, isRefused });
}
