import { originalLease, suffixes, workloads, type WorkloadKind } from '../contract.ts';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects with these names. `NAME` is the installation's name, and `{namespace}` its namespace. */
  readonly resourceNames?: readonly string[];
}

export interface Permission extends PolicyRule {
  /** The purpose in the table of docs/security/README.md. */
  readonly why: string;
  readonly test: string;
}

export const rule = (apiGroup: string, resources: string, verbs: string, ...resourceNames: string[]): PolicyRule => ({
  apiGroups: [apiGroup],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
});

export const needed = (why: string, test: string, granted: PolicyRule): Permission => ({
  ...granted,
  why,
  test: `${test}.cluster.test.ts`,
});

const rbac = 'rbac.authorization.k8s.io';
const kinds: readonly WorkloadKind[] = workloads;
const builtIn = kinds.filter(({ addOn }) => addOn === undefined);
const verbsOn = ({ mutable }: Pick<WorkloadKind, 'mutable'>) => `get list watch${mutable ? ' patch' : ''}`;

function neededOn(granted: readonly WorkloadKind[], verbs: string, why: string, test: string): Permission[] {
  const groups = [...new Set(granted.map(({ group }) => group))];
  return groups.map((group, index) => {
    const plurals = granted.filter((kind) => kind.group === group).map(({ plural }) => plural);
    return needed(index === 0 ? why : 'the same', test, rule(group, plurals.join(' '), verbs));
  });
}

const neededOnAddOn = (kind: WorkloadKind): Permission[] => [
  ...neededOn([kind], verbsOn(kind), `the same, with ${kind.addOn}`, 'reconciler/add-ons'),
  needed(
    'to see if it is installed, now or later',
    'reconciler/add-ons',
    rule('apiextensions.k8s.io', 'customresourcedefinitions', 'list watch', `${kind.plural}.${kind.group}`),
  ),
];

/** A test proves that each right is used (access.cluster.test.ts). */
export const permissions = {
  cluster: [
    needed(
      'to follow them, to set and remove their finalizer, and to probe the webhook by a dry run. `delete` is for the uninstallation.',
      'reconciler/lifecycle',
      rule('operator.lumigo.io', 'lumigoes', 'get list watch patch delete'),
    ),
    needed(
      'to write conditions and the list of instrumented workloads',
      'reconciler/lifecycle',
      rule('operator.lumigo.io', 'lumigoes/status', 'patch'),
    ),
    ...neededOn(
      builtIn.filter(({ mutable }) => mutable),
      verbsOn({ mutable: true }),
      'to add and remove the injection. They are watched as metadata, and read whole before a change.',
      'reconciler/lifecycle',
    ),
    ...kinds.filter(({ addOn }) => addOn !== undefined).flatMap(neededOnAddOn),
    ...neededOn(
      builtIn.filter(({ mutable }) => !mutable),
      verbsOn({ mutable: false }),
      'to report which of them cannot change',
      'reconciler/rollout',
    ),
    needed(
      'to see why a rollout stands still, and to revert the workload',
      'reconciler/rollout',
      rule('', 'pods', 'list'),
    ),
    needed(
      'to evict the broken pod of a StatefulSet whose injection was removed. Disruption budgets hold.',
      'reconciler/running-pods',
      rule('', 'pods/eviction', 'create'),
    ),
    needed(
      'to read the token that a `Lumigo` or a workload refers to, by name',
      'reconciler/manners',
      rule('', 'secrets', 'get'),
    ),
    needed('to report changes of a workload', 'access/access', rule('', 'events', 'create')),
    needed(
      "to set the authority of the webhook's certificate (`caBundle`), also after the configuration was replaced",
      'certificates/certificates',
      rule(
        'admissionregistration.k8s.io',
        'mutatingwebhookconfigurations',
        'get list watch patch',
        `NAME${suffixes.injectorWebhook}`,
      ),
    ),
    needed(
      'to find other installations of the operator, by metadata only. A younger one stands by.',
      'installation/installation',
      rule('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', 'list watch'),
    ),
    needed(
      'to read the uid of the first, which identifies the cluster, and to see if the second is being deleted',
      'uninstall/cleanup',
      rule('', 'namespaces', 'get', 'kube-system', '{namespace}'),
    ),
    needed(
      'to keep its own account by a finalizer until everything is clean. `delete` is unused: OpenShift requires it for an owner reference.',
      'uninstall/cleanup-protection',
      rule('', 'serviceaccounts', 'get list watch patch delete', `NAME${suffixes.manager}`),
    ),
    // No account can extend its own role, so the manager can change only finalizers of these.
    needed(
      'the same for its own rights. `delete` makes them outlive the account.',
      'uninstall/cleanup',
      rule(rbac, 'clusterroles clusterrolebindings', 'get list watch patch delete', `NAME${suffixes.managerRole}`),
    ),
    needed(
      'to set that owner reference on OpenShift, which requires this right',
      'uninstall/cleanup',
      rule(rbac, 'clusterroles/finalizers clusterrolebindings/finalizers', 'update', `NAME${suffixes.managerRole}`),
    ),
  ],
  telemetryProxy: [
    needed(
      'to find the pod that sends a span, and to collect events and pods if `kubeEvents` is on',
      'telemetry-proxy/collection',
      rule('', 'pods events', 'list watch'),
    ),
    ...neededOn(
      builtIn,
      'list watch',
      'to collect their versions, if `kubeEvents` is on',
      'telemetry-proxy/collection',
    ),
    needed(
      'to send the heartbeat of each namespace',
      'telemetry-proxy/collection',
      rule('operator.lumigo.io', 'lumigoes', 'list'),
    ),
  ],
  /** With `telemetry.namespaceLabels` only. */
  namespaceLabels: [
    needed(
      'to add labels of the namespace to its telemetry',
      'telemetry-proxy/optional-data',
      rule('', 'namespaces', 'list watch'),
    ),
  ],
  /** With `metrics.secure` only: the API server decides who can read metrics. */
  metrics: [
    needed('to check the token of a scrape', 'access/access', rule('authentication.k8s.io', 'tokenreviews', 'create')),
    needed(
      'to check if that account may get `/metrics`',
      'access/access',
      rule('authorization.k8s.io', 'subjectaccessreviews', 'create'),
    ),
  ],
  /** With `monitoredNamespaces` only. */
  monitoring: [
    needed('to find present and later namespaces', 'monitoring/monitoring', rule('', 'namespaces', 'list watch')),
    needed(
      'to create a `Lumigo` in a namespace without one',
      'monitoring/monitoring',
      rule('operator.lumigo.io', 'lumigoes', 'create'),
    ),
    needed(
      'to create the Secret that it refers to, if it is missing',
      'monitoring/monitoring',
      rule('', 'secrets', 'create'),
    ),
  ],
  monitoringMarks: [
    needed(
      'to remember which namespaces got their Lumigo, so that a deleted one stays deleted',
      'monitoring/monitoring',
      rule('', 'configmaps', 'create'),
    ),
    needed(
      'the same. `delete` is unused: OpenShift requires it for an owner reference.',
      'monitoring/monitoring',
      rule('', 'configmaps', 'get patch delete', `NAME${suffixes.monitored}`),
    ),
  ],
  /** With `injection.podMode` only. */
  podMode: [
    needed(
      'to see if new pods are injected',
      'reconciler/pod-mode',
      rule(
        'admissionregistration.k8s.io',
        'mutatingadmissionpolicies mutatingadmissionpolicybindings',
        'get',
        `NAME${suffixes.podPolicy}`,
      ),
    ),
  ],
  ownNamespace: [
    needed('to elect the leader', 'manager/manager', rule('coordination.k8s.io', 'leases', 'create')),
    needed('the same', 'manager/manager', rule('coordination.k8s.io', 'leases', 'get update', `NAME${suffixes.lease}`)),
    needed(
      'to wait until the original operator ended, and to delete its Lease after that',
      'installation/installation',
      rule('coordination.k8s.io', 'leases', 'get delete', originalLease),
    ),
    needed(
      'to create the list of workloads that sent telemetry',
      'telemetry-proxy/received',
      rule('', 'configmaps', 'create'),
    ),
    needed(
      'to add workloads to it, and to read what other replicas add',
      'telemetry-proxy/received',
      rule('', 'configmaps', 'get list watch patch', `NAME${suffixes.received}`),
    ),
    // RBAC cannot restrict the name of an object that is created.
    needed(
      "to create the webhook's certificate, and the key of the node collectors",
      'certificates/certificates',
      rule('', 'secrets', 'create'),
    ),
    needed(
      'to renew it, and to follow its changes',
      'certificates/certificates',
      rule('', 'secrets', 'list watch patch', `NAME${suffixes.certificates}`),
    ),
    needed(
      'to restore its own account if that was deleted by mistake',
      'uninstall/cleanup',
      rule('', 'serviceaccounts', 'create'),
    ),
    needed(
      'to get a token that is valid while its account is restored',
      'uninstall/cleanup',
      rule('', 'serviceaccounts/token', 'create', `NAME${suffixes.manager}`),
    ),
    needed(
      'to get the token of the telemetry proxy, which has an account of that name',
      'telemetry-proxy/telemetry-proxy',
      rule('', 'serviceaccounts/token', 'create', `NAME${suffixes.telemetryProxy}`),
    ),
  ],
};
