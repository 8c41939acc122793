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

const getRules = (kind: string): readonly PolicyRule[] =>
  objects.find((each) => each.kind === kind && each.metadata.name.endsWith('-updater'))?.[
    'rules'
  ] as readonly PolicyRule[];

describe('the rights of the updater', () => {
  it('name their resources: no wildcards, and no Secret of another program', () => {
    const all = [...getRules('Role'), ...getRules('ClusterRole')];
    expect(all.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs])).not.toContain('*');
    expect(getRules('ClusterRole').flatMap(({ resources }) => resources)).not.toContain('secrets');
  });

  it('let it change outside of its namespace only the objects of the release, by name', () => {
    const unnamed = getRules('ClusterRole').filter(({ resourceNames }) => resourceNames === undefined);
    const ofLumigoes = unnamed.filter(({ resources }) => resources.includes('lumigoes'));
    const others = unnamed.filter((rule) => !ofLumigoes.includes(rule));
    expect(new Set(others.flatMap(({ verbs }) => verbs))).toEqual(new Set(['create']));
  });

  it('let it give more rights to the roles of the release, and to no other', () => {
    const granting = [...getRules('Role'), ...getRules('ClusterRole')].filter(({ verbs }) =>
      verbs.includes('escalate'),
    );
    const isUpgraded = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] === undefined;
    const roles = objects.filter((each) => each.kind.endsWith('Role') && isUpgraded(each));
    expect(granting.flatMap(({ resourceNames = [] }) => resourceNames).toSorted()).toEqual(
      roles.map(({ metadata }) => metadata.name).toSorted(),
    );
  });

  it('do not depend on other settings, so that enabling a feature later needs no new right', () => {
    const other = synthesize(
      parseSettings({ ...settings, priorityClassName: 'high', networkPolicy: { enabled: true } }),
      'Helm',
    );
    const getUpdater = (manifests: readonly Manifest[]) =>
      manifests.filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name.endsWith('-updater'));
    expect(getUpdater(other)).toEqual(getUpdater(objects));
  });
});
