import { suffixes } from './contract.ts';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects of these names; `NAME` stands for the installation's, `{namespace}` for its namespace. */
  readonly resourceNames?: readonly string[];
}

/** What the operator's ServiceAccount may do, and a test proves that it does all of it (runtime/access.cluster.test.ts). */
export const permissions = {
  cluster: [
    { apiGroups: ['operator.lumigo.io'], resources: ['lumigoes'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
    { apiGroups: ['operator.lumigo.io'], resources: ['lumigoes/status'], verbs: ['patch'] },
    {
      apiGroups: ['apps'],
      resources: ['deployments', 'daemonsets', 'statefulsets', 'replicasets'],
      verbs: ['get', 'list', 'watch', 'patch'],
    },
    { apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create'] },
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations'],
      verbs: ['get', 'patch'],
      resourceNames: [`NAME${suffixes.injectorWebhook}`],
    },
    // The uid of the one is what a cluster is known by; whether the other is being deleted is asked on the way out.
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get'], resourceNames: ['kube-system', '{namespace}'] },
    // To hold its own account and rights until everything is clean (runtime/uninstall/cleanup-protection.ts), and to notice when
    // somebody replaces them. Kubernetes lets nobody give himself more rights by changing a role: only finalizers can be changed so.
    {
      apiGroups: [''],
      resources: ['serviceaccounts'],
      verbs: ['get', 'list', 'watch', 'patch'],
      resourceNames: [`NAME${suffixes.manager}`],
    },
    {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles', 'clusterrolebindings'],
      verbs: ['get', 'list', 'watch', 'patch', 'delete'],
      resourceNames: [`NAME${suffixes.managerRole}`],
    },
  ],
  /** What the telemetry proxy collects, and finds senders' pods by; it has a role of its own. */
  telemetryProxy: [
    { apiGroups: [''], resources: ['pods', 'events'], verbs: ['list', 'watch'] },
    {
      apiGroups: ['apps'],
      resources: ['deployments', 'daemonsets', 'statefulsets', 'replicasets'],
      verbs: ['list', 'watch'],
    },
    { apiGroups: ['batch'], resources: ['cronjobs', 'jobs'], verbs: ['list', 'watch'] },
  ],
  ownNamespace: [
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
    // The webhook's certificate. What is to be created has no name yet that a rule could know.
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['patch'], resourceNames: [`NAME${suffixes.certificates}`] },
  ],
} as const satisfies Readonly<Record<string, readonly PolicyRule[]>>;
