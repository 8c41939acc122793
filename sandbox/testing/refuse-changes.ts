import type { V1RuleWithOperations } from '@kubernetes/client-node';
import { listAll, type Client } from '../../runtime/kubernetes/http/client.ts';
import { eventually } from './eventually.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { getCollection, toRef } from '../manager/apply.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

export interface Refusal {
  readonly namespace: string;
  readonly rule: V1RuleWithOperations;
  readonly message: string;
  /** Labels of the affected objects. Default: all of the namespace. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Objects for which it is true are not affected. Default: none. */
  readonly expression?: string;
  /** A dry run that is refused from then on. */
  readonly attempt: () => Promise<unknown>;
}

/** Makes the API server refuse some requests, as a cluster administrator's policy may. Returns how to end it. */
export async function refuse(client: Client, name: string, refusal: Refusal): Promise<() => Promise<void>> {
  const { namespace, rule, message, labels, expression = 'false', attempt } = refusal;
  const selectors = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    ...(labels === undefined ? {} : { objectSelector: { matchLabels: labels } }),
  };
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule], ...selectors },
      validations: [{ expression, message }],
    },
  };
  const binding = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  };
  for (const each of [policy, binding]) await client.create(getCollection(each), each);
  const waitForRefused = (expected: boolean) =>
    eventually(async () => {
      const isRefused = await attempt().then(
        () => false,
        () => true,
      );
      if (isRefused !== expected) throw new Error(`requests are ${expected ? 'not refused yet' : 'still refused'}`);
    });
  await waitForRefused(true);
  return async () => {
    for (const each of [binding, policy]) await client.delete(toRef(each));
    await waitForRefused(false);
  };
}

/** Refuses changes of the Deployments with some labels, of which there is one at least. */
export async function refuseChanges(
  client: Client,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const deployments = { ...kinds.deployments, namespace };
  const labelSelector = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const [target] = await listAll(client, deployments, { labelSelector: labelSelector.join() });
  if (target === undefined) throw new Error('there is no workload to refuse changes of');
  const patch = { kind: 'merge', body: { metadata: { annotations: { probe: 'x' } } } } as const;
  const attempt = () => client.patch({ ...deployments, name: target.metadata.name }, patch, { dryRun: true });
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] };
  const message = 'this workload is frozen';
  return refuse(client, `refuse-${namespace}`, { namespace, rule, message, labels, attempt });
}
