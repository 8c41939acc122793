import type { PolicyRule } from '../../runtime/permissions.ts';
import { lumigo } from '../../runtime/contract.ts';
import type { Manifest } from '../manifest.ts';
import { groupVersionOf, pluralOf } from '../plurals.ts';

export interface UpdaterRules {
  /** In the operator's own namespace. */
  readonly own: readonly PolicyRule[];
  readonly cluster: readonly PolicyRule[];
}

const change = ['get', 'patch', 'update', 'delete'];

/**
 * What Helm needs to upgrade a release of these objects, and to roll it back. In the operator's namespace a new version may bring
 * more objects of the same kinds; outside of it only those that are there already can be changed, and none can be read that is
 * not the operator's.
 */
export function updaterRules(manifests: readonly Manifest[], namespace: string): UpdaterRules {
  const own = manifests.filter(({ metadata }) => metadata.namespace === namespace);
  const cluster = manifests.filter(({ metadata }) => metadata.namespace === undefined);
  const elsewhere = manifests.filter(({ metadata }) => ![undefined, namespace].includes(metadata.namespace));
  return {
    own: [
      ...byGroup(own).map(({ group, plurals }) => rule(group, plurals, ['list', 'watch', 'create', ...change])),
      // Helm keeps the release itself in Secrets; until everything is ready it looks at the pods.
      rule('', ['secrets'], ['list', 'create', ...change]),
      rule('', ['pods'], ['get', 'list', 'watch']),
      rule('apps', ['replicasets'], ['get', 'list', 'watch']),
      rule('', ['events'], ['create']),
      ...grants(own),
    ],
    cluster: [
      ...byGroup(cluster).map(({ group, plurals }) => rule(group, plurals, ['create'])),
      ...cluster.map((manifest) => named(manifest, change)),
      ...grants(cluster),
      // In the monitored namespaces.
      ...byGroup(elsewhere).map(({ group, plurals }) => rule(group, plurals, ['create', ...change])),
      // The chart's notes list them.
      rule(lumigo.group, [lumigo.plural], ['list']),
    ],
  };
}

/** A new version of a role may allow more than the updater may do itself; whom it is given to stays the operator. */
const grants = (manifests: readonly Manifest[]): PolicyRule[] =>
  manifests.filter(({ kind }) => kind.endsWith('Role')).map((manifest) => named(manifest, ['escalate', 'bind']));

function byGroup(manifests: readonly Manifest[]): { readonly group: string; readonly plurals: readonly string[] }[] {
  const groups = new Map<string, Set<string>>();
  for (const { apiVersion, kind } of manifests) {
    const { group } = groupVersionOf(apiVersion);
    groups.set(group, (groups.get(group) ?? new Set<string>()).add(pluralOf(kind)));
  }
  return [...groups].map(([group, plurals]) => ({ group, plurals: [...plurals] }));
}

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
});

const named = ({ apiVersion, kind, metadata }: Manifest, verbs: readonly string[]): PolicyRule => ({
  ...rule(groupVersionOf(apiVersion).group, [pluralOf(kind)], verbs),
  resourceNames: [metadata.name],
});
