import type { PolicyRule } from '../../runtime/access/permissions.ts';
import { lumigo, suffixes } from '../../runtime/contract.ts';
import type { Manifest } from './manifest.ts';
import { getGroupVersion, toPlural } from '../settings/plurals.ts';

export interface UpdaterRule extends PolicyRule {
  readonly why: string;
}

export interface UpdaterRules {
  readonly own: readonly UpdaterRule[];
  readonly cluster: readonly UpdaterRule[];
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
  { ...rule('apps', ['deployments'], ['get'], why.about), resourceNames: [`${name}${suffixes.manager}`] },
  rule('', ['events'], ['create'], why.report),
];

const change = ['get', 'patch', 'update', 'delete'];

/** Returns the rights by which Helm upgrades and rolls back these objects. New objects are allowed in the operator's namespace only. */
export function updaterRules(manifests: readonly Manifest[], namespace: string): UpdaterRules {
  const own = manifests.filter(({ metadata }) => metadata.namespace === namespace);
  const cluster = manifests.filter(({ metadata }) => metadata.namespace === undefined);
  return {
    own: [
      ...byGroup(own).map(({ group, plurals }) =>
        rule(group, plurals, ['list', 'watch', 'create', ...change], why.objects),
      ),
      rule('', ['secrets'], ['list', 'create', ...change], why.release),
      rule('', ['pods'], ['get', 'list', 'watch'], why.progress),
      rule('apps', ['replicasets'], ['get', 'list', 'watch'], why.progress),
      rule('', ['events'], ['create'], why.report),
      ...grants(own),
    ],
    cluster: [
      ...byGroup(cluster).map(({ group, plurals }) => rule(group, plurals, ['create'], why.missing)),
      ...cluster.map((manifest) => named(manifest, change, why.changed)),
      ...grants(cluster),
      rule(lumigo.group, [lumigo.plural], ['list'], why.notes),
      rule(lumigo.group, [lumigo.plural], ['get'], why.parameters),
    ],
  };
}

/** A role of a new version can have rights that the updater lacks. The binding gives it to the operator only. */
const grants = (manifests: readonly Manifest[]): UpdaterRule[] =>
  manifests
    .filter(({ kind }) => kind.endsWith('Role'))
    .map((manifest) => named(manifest, ['escalate', 'bind'], why.granting));

function byGroup(manifests: readonly Manifest[]): { readonly group: string; readonly plurals: readonly string[] }[] {
  const groups = new Map<string, Set<string>>();
  for (const { apiVersion, kind } of manifests) {
    const { group } = getGroupVersion(apiVersion);
    groups.set(group, (groups.get(group) ?? new Set<string>()).add(toPlural(kind)));
  }
  return [...groups].map(([group, plurals]) => ({ group, plurals: [...plurals] }));
}

const rule = (group: string, resources: readonly string[], verbs: readonly string[], reason: string): UpdaterRule => ({
  apiGroups: [group],
  resources,
  verbs,
  why: reason,
});

const named = ({ apiVersion, kind, metadata }: Manifest, verbs: readonly string[], reason: string): UpdaterRule => ({
  ...rule(getGroupVersion(apiVersion).group, [toPlural(kind)], verbs, reason),
  resourceNames: [metadata.name],
});
