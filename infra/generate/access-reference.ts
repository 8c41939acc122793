import { checkPermissions } from '../../runtime/access/check-permissions.ts';
import { permissions } from '../../runtime/access/permissions.ts';
import { portNames, reachedPorts } from '../settings/ports.ts';
import { checkRules, type UpdaterRule } from '../constructs/updater-rules.ts';
import { kubeStateMetricsRules } from '../constructs/kube-state-metrics.ts';
import { nodeCollectorRules } from '../constructs/node-collector.ts';
import { rulesOfUpgrade } from '../constructs/updater.ts';
import { userRoles } from '../constructs/user-roles.ts';
import { markdownTable as markdown } from '../settings/markdown-table.ts';
import { referencePage } from './page.ts';
import { getRelease } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';

export const permissionsReference = (): string =>
  referencePage(
    'Permissions',
    'runtime/access/permissions.ts',
    '[Security](../security/README.md#rights-of-the-operator) says what an attacker can do with these rights, and what the guard adds to them.',
    '## The operator',
    'The operator has these rights and no others. Each right has a test that needs it.',
    permissionsTable(),
    '## Collectors of nodes',
    'These exist with `clusterCollection.metrics.enabled` alone. Each has an account of its own.',
    collectorsTable(),
    '## Users',
    'Kubernetes adds these rights to its own roles.',
    usersTable(),
    '## The updater',
    'The mode `upgrade` includes the rights of `check`.',
    updaterTable(),
  );

export const portsReference = (): string =>
  referencePage(
    'Ports',
    'infra/settings/ports.ts',
    "These are the ports of the operator's pods. [Security](../security/README.md#ports) says which of them are open by default.",
    portsTable(),
  );

/** A Helm release does not include the namespace. */
const settings = parseSettings({ createNamespace: false });

type Row = readonly string[];

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const generic = (name: string): string =>
  name.replace('NAME', '<name>').replace(settings.name, '<name>').replace('{namespace}', settings.namespace);

function permissionsTable(): string {
  const where = {
    cluster: 'manager',
    metrics: 'manager, with `metrics.secure`',
    monitoring: 'manager, with `monitoredNamespaces`',
    podMode: 'manager, with `injection.podMode`',
    telemetryProxy: 'telemetry proxy',
    namespaceLabels: 'telemetry proxy, with `telemetry.namespaceLabels`',
    ownNamespace: "manager, the operator's namespace",
    monitoringMarks: "manager, the operator's namespace, with `monitoredNamespaces`",
    check: '`helm test`, while it runs',
    checkProbe: '`helm test`, while it runs, the namespace `default`',
  };
  const all = { ...permissions, ...checkPermissions };
  const rows = (Object.keys(where) as (keyof typeof where)[]).flatMap((key) =>
    all[key].map(({ resources, verbs, resourceNames, why, test }) => [
      where[key],
      code(resources),
      verbs.join(', '),
      resourceNames === undefined ? 'all' : code(resourceNames.map(generic)),
      why,
      `[${test}](../../runtime/${test})`,
    ]),
  );
  return markdown(['Account', 'Resources', 'Verbs', 'Names', 'Purpose', 'Test'], rows);
}

function collectorsTable(): string {
  const rules = { 'node collector': nodeCollectorRules, 'kube-state-metrics': kubeStateMetricsRules };
  const rows = Object.entries(rules).flatMap(([account, all]) =>
    all.map(({ resources, verbs }) => [account, code(resources), verbs.join(', ')]),
  );
  return markdown(['Account', 'Resources', 'Verbs'], rows);
}

function updaterTable(): string {
  const { own, cluster } = rulesOfUpgrade(settings, getRelease(settings));
  const ours = "the operator's namespace";
  const rows = [
    ...byReason(checkRules(settings.name), ours).map((row) => ['check', ...row]),
    ...byReason(own, ours).map((row) => ['upgrade', ...row]),
    ...byReason(cluster, 'the cluster').map((row) => ['upgrade', ...row]),
  ];
  return markdown(['Mode', 'Scope', 'Resources', 'Verbs', 'Purpose'], rows);
}

function byReason(rules: readonly UpdaterRule[], where: string): Row[] {
  const reasons = [...new Set(rules.map(({ why }) => why))];
  return reasons.map((reason) => {
    const same = rules.filter(({ why }) => why === reason);
    const resources = same.flatMap(({ resources: each, resourceNames = [''] }) =>
      each.flatMap((resource) =>
        resourceNames.map((name) => (name === '' ? resource : `${resource}/${generic(name)}`)),
      ),
    );
    return [where, code(resources), [...new Set(same.flatMap(({ verbs }) => verbs))].join(', '), reason];
  });
}

function usersTable(): string {
  const rows = userRoles.flatMap(({ aggregatedTo, rules }) =>
    rules.map(({ resources, verbs }) => [code(aggregatedTo), code(resources), verbs.join(', ')]),
  );
  return markdown(['Role', 'Resource', 'Verbs'], rows);
}

function portsTable(): string {
  const whom = {
    webhook: '`networkPolicy.webhook.from` (default: every address)',
    otlp: '`networkPolicy.otlp.from` (default: every pod)',
    metrics: '`networkPolicy.metrics.from` (default: namespaces labelled `metrics: enabled`)',
    nodes: 'the node collectors',
    node: "the pod's node",
    pod: 'the pod itself (loopback)',
  } as const;
  return markdown(
    ['Port', 'Setting', 'Use', 'Reached by, with `networkPolicy.enabled`'],
    portNames.map((name) => {
      const { purpose, by } = reachedPorts[name];
      return [String(settings.ports[name]), `\`ports.${name}\``, purpose, whom[by]];
    }),
  );
}
