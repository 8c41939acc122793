import type { PolicyRule } from '../../runtime/access/permissions.ts';
import { lumigo, suffixes } from '../../runtime/contract.ts';
import type { Manifest } from '../manifest.ts';
import { groupVersionOf, pluralOf } from '../settings/plurals.ts';

export interface UpdaterRule extends PolicyRule {
  /** What it is for. docs/security/README.md has it from here. */
  readonly why: string;
}

export interface UpdaterRules {
  /** In the operator's own namespace. */
  readonly own: readonly UpdaterRule[];
  readonly cluster: readonly UpdaterRule[];
}

/** Rules of one reason stand in one row of the document. */
const why = {
  objects: 'to upgrade and roll back what the release has there, also what a later version adds of these kinds',
  release: 'the release itself, which Helm keeps in Secrets',
  progress: 'to see whether the new version is ready',
  told: 'to tell what was done or found',
  about: 'what the events are about',
  found: 'what was found, of which the manager makes metrics',
  missing: 'to bring back what is missing of the release; what is to be created has no name yet that a rule could know',
  changed: 'to upgrade and roll back what the release has, by name',
  granting: 'a later version of a role may allow more than the updater may do itself',
  notes: 'the notes of the chart list them',
} as const;

/** What checking and reporting takes, in the operator's namespace. Of an updater that cannot upgrade it is all that it may do. */
export const checkRules = (name: string): readonly UpdaterRule[] => [
  { ...rule('apps', ['deployments'], ['get'], why.about), resourceNames: [`${name}${suffixes.manager}`] },
  rule('', ['events'], ['create'], why.told),
  { ...rule('', ['configmaps'], ['patch'], why.found), resourceNames: [`${name}${suffixes.updater}`] },
];

const change = ['get', 'patch', 'update', 'delete'];

/**
 * What Helm needs to upgrade a release of these objects, and to roll it back. In the operator's namespace a new version may bring
 * more objects of the same kinds; outside of it only those that are there already can be changed, and none can be read that is
 * not the operator's.
 */
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
      rule('', ['events'], ['create'], why.told),
      ...grants(own),
    ],
    cluster: [
      ...byGroup(cluster).map(({ group, plurals }) => rule(group, plurals, ['create'], why.missing)),
      ...cluster.map((manifest) => named(manifest, change, why.changed)),
      ...grants(cluster),
      rule(lumigo.group, [lumigo.plural], ['list'], why.notes),
    ],
  };
}

/** A new version of a role may allow more than the updater may do itself; whom it is given to stays the operator. */
const grants = (manifests: readonly Manifest[]): UpdaterRule[] =>
  manifests
    .filter(({ kind }) => kind.endsWith('Role'))
    .map((manifest) => named(manifest, ['escalate', 'bind'], why.granting));

function byGroup(manifests: readonly Manifest[]): { readonly group: string; readonly plurals: readonly string[] }[] {
  const groups = new Map<string, Set<string>>();
  for (const { apiVersion, kind } of manifests) {
    const { group } = groupVersionOf(apiVersion);
    groups.set(group, (groups.get(group) ?? new Set<string>()).add(pluralOf(kind)));
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
  ...rule(groupVersionOf(apiVersion).group, [pluralOf(kind)], verbs, reason),
  resourceNames: [metadata.name],
});
