import { suffixes } from './contract.ts';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects of these names; `NAME` stands for the installation's, `{namespace}` for its namespace. */
  readonly resourceNames?: readonly string[];
}

/** Resources and verbs with a blank between them. */
const rule = (apiGroup: string, resources: string, verbs: string, ...resourceNames: string[]): PolicyRule => ({
  apiGroups: [apiGroup],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
});

const rbac = 'rbac.authorization.k8s.io';

/** What the operator's ServiceAccount may do, and a test proves that it does all of it (runtime/access.cluster.test.ts). */
export const permissions = {
  cluster: [
    rule('operator.lumigo.io', 'lumigoes', 'get list watch patch delete'),
    rule('operator.lumigo.io', 'lumigoes/status', 'patch'),
    rule('apps', 'deployments daemonsets statefulsets replicasets', 'get list watch patch'),
    rule('batch', 'cronjobs', 'get list watch patch'),
    rule('batch', 'jobs', 'get list watch'),
    rule('', 'secrets', 'get'),
    rule('', 'events', 'create'),
    rule(
      'admissionregistration.k8s.io',
      'mutatingwebhookconfigurations',
      'get patch',
      `NAME${suffixes.injectorWebhook}`,
    ),
    // The uid of the one is what a cluster is known by; whether the other is being deleted is asked on the way out.
    rule('', 'namespaces', 'get', 'kube-system', '{namespace}'),
    // To hold its own account and rights until everything is clean (runtime/uninstall/cleanup-protection.ts), and to notice when
    // somebody replaces them. Kubernetes lets nobody give himself more rights by changing a role: only finalizers can be changed so.
    rule('', 'serviceaccounts', 'get list watch patch', `NAME${suffixes.manager}`),
    rule(rbac, 'clusterroles clusterrolebindings', 'get list watch patch delete', `NAME${suffixes.managerRole}`),
  ],
  /** What the telemetry proxy collects, and finds senders' pods by; it has a role of its own. */
  telemetryProxy: [
    rule('', 'pods events', 'list watch'),
    rule('apps', 'deployments daemonsets statefulsets replicasets', 'list watch'),
    rule('batch', 'cronjobs jobs', 'list watch'),
  ],
  ownNamespace: [
    rule('coordination.k8s.io', 'leases', 'get create update'),
    // The webhook's certificate. What is to be created has no name yet that a rule could know.
    rule('', 'secrets', 'create'),
    rule('', 'secrets', 'patch', `NAME${suffixes.certificates}`),
  ],
};
