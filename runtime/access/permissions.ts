import { originalLease, suffixes, workloads, type WorkloadKind } from '../contract.ts';

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects of these names; `NAME` stands for the installation's, `{namespace}` for its namespace, `{clientCa}` for a setting. */
  readonly resourceNames?: readonly string[];
}

export interface Permission extends PolicyRule {
  /** What it is for. docs/security/README.md has it from here. */
  readonly why: string;
  /** Below runtime/: what fails without it. */
  readonly test: string;
}

/** Resources and verbs with a blank between them. */
const rule = (apiGroup: string, resources: string, verbs: string, ...resourceNames: string[]): PolicyRule => ({
  apiGroups: [apiGroup],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
});

const needed = (why: string, test: string, granted: PolicyRule): Permission => ({
  ...granted,
  why,
  test: `${test}.cluster.test.ts`,
});

const rbac = 'rbac.authorization.k8s.io';
const kinds: readonly WorkloadKind[] = workloads;
const builtIn = kinds.filter(({ addOn }) => addOn === undefined);
const verbsOn = ({ mutable }: Pick<WorkloadKind, 'mutable'>) => `get list watch${mutable ? ' patch' : ''}`;

/** One for each API group. */
function neededOn(granted: readonly WorkloadKind[], verbs: string, why: string, test: string): Permission[] {
  const groups = [...new Set(granted.map(({ group }) => group))];
  return groups.map((group, index) => {
    const plurals = granted.filter((kind) => kind.group === group).map(({ plural }) => plural);
    return needed(index === 0 ? why : 'the same', test, rule(group, plurals.join(' '), verbs));
  });
}

const neededOnAddOn = (kind: WorkloadKind): Permission[] => [
  ...neededOn([kind], verbsOn(kind), `the same, where ${kind.addOn} is`, 'reconciler/add-ons'),
  needed(
    'whether it is, or comes later; the definition of that kind alone',
    'reconciler/add-ons',
    rule('apiextensions.k8s.io', 'customresourcedefinitions', 'list watch', `${kind.plural}.${kind.group}`),
  ),
];

/**
 * What the two ServiceAccounts may do: the manager's, and (`telemetryProxy`) the collector's, which parses what every pod sends. A
 * test proves that each does all of it (runtime/access/access.cluster.test.ts).
 */
export const permissions = {
  cluster: [
    needed(
      'to follow them, to add and release their finalizer, to probe the webhook by a dry run; `delete` when the whole operator goes',
      'reconciler/lifecycle',
      rule('operator.lumigo.io', 'lumigoes', 'get list watch patch delete'),
    ),
    needed(
      'conditions, and which workloads are instrumented',
      'reconciler/credential',
      rule('operator.lumigo.io', 'lumigoes/status', 'patch'),
    ),
    ...neededOn(
      builtIn.filter(({ mutable }) => mutable),
      verbsOn({ mutable: true }),
      'the injection into what is there already, and its removal; watched as metadata, read whole before a change',
      'reconciler/lifecycle',
    ),
    ...kinds.filter(({ addOn }) => addOn !== undefined).flatMap(neededOnAddOn),
    ...neededOn(
      builtIn.filter(({ mutable }) => !mutable),
      verbsOn({ mutable: false }),
      'to say which cannot be changed any more',
      'reconciler/lifecycle',
    ),
    needed(
      'what becomes of pods with the injection, in a namespace where it is new: what breaks is put back',
      'reconciler/rollout',
      rule('', 'pods', 'list watch'),
    ),
    needed(
      "within disruption budgets: a StatefulSet's pod that an injection has broken, for which its controller waits without end; in Pod mode, pods without the injection",
      'reconciler/broken-pod',
      rule('', 'pods/eviction', 'create'),
    ),
    needed(
      'the token that a Lumigo or a workload refers to, by its name; neither listed nor watched',
      'reconciler/manners',
      rule('', 'secrets', 'get'),
    ),
    needed('what was done to a workload, beside it', 'reconciler/manners', rule('', 'events', 'create')),
    needed(
      "the authority of the webhook's certificate (`caBundle`), put back as soon as somebody replaces the configuration",
      'certificates/certificates',
      rule(
        'admissionregistration.k8s.io',
        'mutatingwebhookconfigurations',
        'get list watch patch',
        `NAME${suffixes.injectorWebhook}`,
      ),
    ),
    needed(
      'where each API server is: whether all of them reach the webhook is tried',
      'reconciler/probe',
      rule('discovery.k8s.io', 'endpointslices', 'get', 'kubernetes'),
    ),
    needed(
      'the uid of the one is what a cluster is known by; whether the other is being deleted is asked on the way out',
      'uninstall/cleanup-finalizer',
      rule('', 'namespaces', 'get', 'kube-system', '{namespace}'),
    ),
    needed(
      'a finalizer holds its own account until everything is clean, and is put back where somebody replaced the account; `delete`, which it never does, to name who the account goes with',
      'uninstall/cleanup-protection',
      rule('', 'serviceaccounts', 'get list watch patch delete', `NAME${suffixes.manager}`),
    ),
    // Kubernetes lets nobody give himself more rights by changing a role: of these only finalizers can be changed.
    needed(
      'the same for its own rights; `delete` so that they go after the account, never before it',
      'uninstall/cleanup-finalizer',
      rule(rbac, 'clusterroles clusterrolebindings', 'get list watch patch delete', `NAME${suffixes.managerRole}`),
    ),
    needed(
      "to say that its rights wait for the account, where the API server asks (OpenShift's does); nothing is sent there",
      'uninstall/cleanup-finalizer',
      rule(rbac, 'clusterroles/finalizers clusterrolebindings/finalizers', 'update', `NAME${suffixes.managerRole}`),
    ),
  ],
  /** What the telemetry proxy collects, and finds senders' pods by. */
  telemetryProxy: [
    needed(
      'which pod a span comes from; events and pods of namespaces whose Lumigo has `kubeEvents` on; which pods have a token that was replaced',
      'telemetry-proxy/collection',
      rule('', 'pods events', 'list watch'),
    ),
    ...neededOn(builtIn, 'list watch', 'their versions, of the same namespaces', 'telemetry-proxy/collection'),
    needed(
      'the heartbeat of each monitored namespace',
      'telemetry-proxy/collection',
      rule('operator.lumigo.io', 'lumigoes', 'list'),
    ),
  ],
  /** Of the manager, with `metrics.secure` only: whom to let read metrics is the API server's to say. */
  metrics: [
    needed(
      'whose token a scrape comes with',
      'manager/scrapes',
      rule('authentication.k8s.io', 'tokenreviews', 'create'),
    ),
    needed(
      'whether that account may get `/metrics`',
      'manager/scrapes',
      rule('authorization.k8s.io', 'subjectaccessreviews', 'create'),
    ),
  ],
  /** Of the manager, with `injection.podMode` only. */
  podMode: [
    needed(
      'the webhook for pods, of the namespaces in Pod mode and of no other',
      'webhook/pod-mode',
      rule(
        'admissionregistration.k8s.io',
        'mutatingwebhookconfigurations',
        'get list watch patch',
        `NAME${suffixes.podWebhook}`,
      ),
    ),
  ],
  /** Of the manager, with `monitoredNamespaces` only. */
  monitoring: [
    needed(
      'which namespaces there are, and which come later',
      'monitoring/monitoring',
      rule('', 'namespaces', 'list watch'),
    ),
    needed('a Lumigo where there is none', 'monitoring/monitoring', rule('operator.lumigo.io', 'lumigoes', 'create')),
    needed('the Secret that it refers to, where there is none', 'monitoring/monitoring', rule('', 'secrets', 'create')),
  ],
  /** Of the manager in its own namespace, with `webhook.clientCa` only. */
  clientCa: [
    needed(
      "the authority that the API server's client certificate is of, and to follow another one at once",
      'webhook/client-certificate',
      rule('', 'configmaps', 'get list watch', '{clientCa}'),
    ),
  ],
  ownNamespace: [
    needed('which replica leads', 'manager/manager', rule('coordination.k8s.io', 'leases', 'get create update')),
    needed(
      'that of the original operator, whose place it has taken',
      'installation/original',
      rule('coordination.k8s.io', 'leases', 'delete', originalLease),
    ),
    // What is to be created has no name yet that a rule could know.
    needed(
      "the webhook's certificate, where nobody else brings one",
      'certificates/certificates',
      rule('', 'secrets', 'create'),
    ),
    needed(
      'its renewal, and to serve another one at once',
      'certificates/certificates',
      rule('', 'secrets', 'list watch patch', `NAME${suffixes.certificates}`),
    ),
    needed(
      'what the updater has found, for two metrics',
      'updater/check',
      rule('', 'configmaps', 'list watch', `NAME${suffixes.updater}`),
    ),
    needed(
      'its own account anew, where that was deleted by mistake',
      'uninstall/no-removal',
      rule('', 'serviceaccounts', 'create'),
    ),
    needed(
      'a token of its own account, which is believed while that is replaced',
      'uninstall/no-removal',
      rule('', 'serviceaccounts/token', 'create', `NAME${suffixes.manager}`),
    ),
    needed(
      'the token that the telemetry proxy of its own pod asks with: a pod has one account, and this is another',
      'telemetry-proxy/account',
      rule('', 'serviceaccounts/token', 'create', `NAME${suffixes.telemetryProxy}`),
    ),
  ],
};
