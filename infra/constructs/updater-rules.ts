import { rule, type PolicyRule } from '../../runtime/access/permissions.ts';
import { lumigo, suffixes } from '../../runtime/contract.ts';
import type { Manifest } from './manifest.ts';
import { getGroupVersion, toPlural } from '../settings/plurals.ts';

export interface UpdaterRule extends PolicyRule {
  readonly why: string;
}

/** Each value is a row of the table in docs/security/README.md. */
const why = {
  objects: 'to upgrade and roll back objects of the release, also new ones of these kinds',
  release: 'to read and write the release itself, which Helm keeps in Secrets',
  progress: 'to see if the new version is ready',
  report: 'to report the result',
  about: 'to find the object of the events',
  missing: 'to create missing objects of the release. RBAC cannot restrict their names.',
  changed: 'to upgrade and roll back objects of the release, by name',
  granting:
    'a later version of a role can have rights that the updater lacks. A deleted role needs your own `helm upgrade`.',
  notes: 'to list them in the notes of the chart',
  parameters: 'to write a policy that has them as its parameters, for which Kubernetes asks for this right',
} as const;

/** Returns the rights to check and report. An updater that cannot upgrade has no others. */
export const checkRules = (name: string): readonly UpdaterRule[] => [
  because(why.about, 'apps', 'deployments', 'get', `${name}${suffixes.manager}`),
  because(why.report, '', 'events', 'create'),
];

const changing = 'get patch update delete';

/** Returns the rights by which Helm upgrades and rolls back these objects. New objects are allowed in the operator's namespace only. */
export function updaterRules(manifests: readonly Manifest[], namespace: string) {
  const own = manifests.filter(({ metadata }) => metadata.namespace === namespace);
  const cluster = manifests.filter(({ metadata }) => metadata.namespace === undefined);
  return {
    own: [
      ...byGroup(why.objects, own, `list watch create ${changing}`),
      because(why.release, '', 'secrets', `list create ${changing}`),
      because(why.progress, '', 'pods', 'get list watch'),
      because(why.progress, 'apps', 'replicasets', 'get list watch'),
      because(why.report, '', 'events', 'create'),
      ...grants(own),
    ],
    cluster: [
      ...byGroup(why.missing, cluster, 'create'),
      ...cluster.map((manifest) => named(why.changed, manifest, changing)),
      ...grants(cluster),
      because(why.notes, lumigo.group, lumigo.plural, 'list'),
      because(why.parameters, lumigo.group, lumigo.plural, 'get'),
    ],
  };
}

/** A role of a new version can have rights that the updater lacks. The binding gives it to the operator only. */
const grants = (manifests: readonly Manifest[]): UpdaterRule[] =>
  manifests
    .filter(({ kind }) => kind.endsWith('Role'))
    .map((manifest) => named(why.granting, manifest, 'escalate bind'));

/** Returns a rule for the kinds of each group. */
function byGroup(reason: string, manifests: readonly Manifest[], verbs: string): UpdaterRule[] {
  const groups = new Map<string, Set<string>>();
  for (const { apiVersion, kind } of manifests) {
    const { group } = getGroupVersion(apiVersion);
    groups.set(group, (groups.get(group) ?? new Set<string>()).add(toPlural(kind)));
  }
  return [...groups].map(([group, plurals]) => because(reason, group, [...plurals].join(' '), verbs));
}

const named = (reason: string, { apiVersion, kind, metadata }: Manifest, verbs: string): UpdaterRule =>
  because(reason, getGroupVersion(apiVersion).group, toPlural(kind), verbs, metadata.name);

const because = (reason: string, ...granted: Parameters<typeof rule>): UpdaterRule => ({
  ...rule(...granted),
  why: reason,
});
