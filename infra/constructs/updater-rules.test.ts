import { describe, expect, it } from '@jest/globals';
import type { PolicyRule } from '../../runtime/access/permissions.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';

const updater = { mode: 'upgrade', repository: 'https://charts.example', verify: { keyringSecret: 'lumigo-charts' } };
const settings = {
  updater,
  metrics: { secure: true },
  monitoredNamespaces: [{ namespace: 'shop' }],
  injection: { podMode: true },
  telemetry: { namespaceLabels: ['team'] },
  clusterCollection: { metrics: { enabled: true }, logs: { enabled: true } },
};
const objects = synthesize(parseSettings(settings), 'Helm');

const rolesIn = (manifests: readonly Manifest[]) =>
  manifests.filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name.endsWith('-updater'));
const rulesOf = (...roles: readonly Manifest[]) => roles.flatMap(({ rules }) => rules as readonly PolicyRule[]);
const all = rulesOf(...rolesIn(objects));
const clusterWide = rulesOf(...rolesIn(objects).filter(({ kind }) => kind === 'ClusterRole'));

describe('the rights of the updater', () => {
  it('name their resources: no wildcards, and no Secret of another program', () => {
    expect(all.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs])).not.toContain('*');
    expect(clusterWide.flatMap(({ resources }) => resources)).not.toContain('secrets');
  });

  it('let it change outside of its namespace only the objects of the release, by name', () => {
    const unnamed = clusterWide.filter(({ resourceNames }) => resourceNames === undefined);
    const others = unnamed.filter(({ resources }) => !resources.includes('lumigoes'));
    expect(new Set(others.flatMap(({ verbs }) => verbs))).toEqual(new Set(['create']));
  });

  it('let it give more rights to the roles of the release, and to no other', () => {
    const granting = all.filter(({ verbs }) => verbs.includes('escalate'));
    const isUpgraded = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] === undefined;
    const roles = objects.filter((each) => each.kind.endsWith('Role') && isUpgraded(each));
    expect(granting.flatMap(({ resourceNames = [] }) => resourceNames).toSorted()).toEqual(
      roles.map(({ metadata }) => metadata.name).toSorted(),
    );
  });

  it('do not depend on other settings, so that enabling a feature later needs no new right', () => {
    const more = { priorityClassName: 'high', networkPolicy: { enabled: true } };
    const other = synthesize(parseSettings({ ...settings, ...more }), 'Helm');
    expect(rolesIn(other)).toEqual(rolesIn(objects));
  });
});
