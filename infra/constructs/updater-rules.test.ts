import { describe, expect, it } from '@jest/globals';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';

/** What the updater may do follows from what the release has. */
const updater = { mode: 'upgrade', repository: 'https://charts.example', verify: { keyringSecret: 'lumigo-charts' } };
const settings = {
  updater,
  metrics: { secure: true },
  monitoredNamespaces: [{ namespace: 'shop' }],
  injection: { podMode: true },
};
const objects = synthesize(parseSettings(settings), 'Helm');

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const rulesOf = (kind: string): readonly Rule[] =>
  objects.find((each) => each.kind === kind && each.metadata.name.endsWith('-updater'))?.['rules'] as readonly Rule[];

describe('the rights of the updater', () => {
  it('name what they are for: nothing of everything, and no Secret of anybody else', () => {
    const all = [...rulesOf('Role'), ...rulesOf('ClusterRole')];
    expect(all.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs])).not.toContain('*');
    expect(rulesOf('ClusterRole').flatMap(({ resources }) => resources)).not.toContain('secrets');
  });

  it('let it change outside of its namespace only what the release has, by name', () => {
    const unnamed = rulesOf('ClusterRole').filter(({ resourceNames }) => resourceNames === undefined);
    const ofLumigoes = unnamed.filter(({ resources }) => resources.includes('lumigoes'));
    const others = unnamed.filter((rule) => !ofLumigoes.includes(rule));
    expect(new Set(others.flatMap(({ verbs }) => verbs))).toEqual(new Set(['create']));
  });

  it('let it give more rights to the roles of the release, and to no other', () => {
    const granting = [...rulesOf('Role'), ...rulesOf('ClusterRole')].filter(({ verbs }) => verbs.includes('escalate'));
    const roles = objects.filter(({ kind }) => kind.endsWith('Role')).map(({ metadata }) => metadata.name);
    expect(granting.flatMap(({ resourceNames = [] }) => resourceNames).toSorted()).toEqual(roles.toSorted());
  });

  it('are the same whatever else is set, so that switching something on later fails for no right', () => {
    const other = synthesize(
      parseSettings({ ...settings, priorityClassName: 'high', networkPolicy: { enabled: true } }),
      'Helm',
    );
    const updaterOf = (manifests: readonly Manifest[]) =>
      manifests.filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name.endsWith('-updater'));
    expect(updaterOf(other)).toEqual(updaterOf(objects));
  });
});
