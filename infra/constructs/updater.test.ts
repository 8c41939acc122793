import { describe, expect, it } from '@jest/globals';
import { updaterKinds } from '../../runtime/config/config.ts';
import { readConfiguration } from '../../runtime/config/document.ts';
import { checkRules } from './updater-rules.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';
import { mayUpgrade, suspended, whySuspended } from '../settings/updater-state.ts';
import { chartDefaults } from '../helm/values.ts';

const deliveries = ['Manifests', 'Pulumi', 'Helm'] as const;
const published = { repository: 'https://charts.example' };
const trusting = { ...published, verify: { keyringSecret: 'lumigo-charts' } };

type Container = Readonly<{ args: readonly string[]; env: readonly { name: string; value?: string }[] }>;

interface CronJob {
  readonly suspend: boolean;
  readonly concurrencyPolicy: string;
  readonly jobTemplate: {
    readonly spec: {
      readonly activeDeadlineSeconds: number;
      readonly ttlSecondsAfterFinished: number;
      readonly template: { readonly spec: { readonly containers: readonly [Container] } };
    };
  };
}

const installed = (updater: object, delivery: (typeof deliveries)[number] = 'Helm'): readonly Manifest[] =>
  synthesize(parseSettings({ updater }), delivery).filter(({ metadata }) => metadata.name.endsWith('-updater'));

const getKinds = (manifests: readonly Manifest[]): readonly string[] => manifests.map(({ kind }) => kind);
const getJob = (manifests: readonly Manifest[]): CronJob =>
  manifests.find(({ kind }) => kind === 'CronJob')?.['spec'] as CronJob;

const always = ['ServiceAccount', 'Role', 'RoleBinding', 'CronJob'];

describe('the updater [F60]', () => {
  it.each(deliveries)('is part of the delivery %s, by default', (delivery) => {
    const defaults = delivery === 'Helm' ? chartDefaults.updater : {};
    const objects = installed(defaults, delivery);
    expect(getKinds(objects)).toEqual(always);
    expect(objects.map(({ metadata: { namespace } }) => namespace)).toEqual(always.map(() => 'lumigo-system'));
    const { suspend, concurrencyPolicy, jobTemplate } = getJob(objects);
    // An upgrade also needs a keyring.
    const expected = delivery === 'Helm' || parseSettings({}).updater.repository === '';
    expect([suspend, concurrencyPolicy]).toEqual([expected, 'Forbid']);
    // Both an upgrade and its rollback may take the longest time of the setting.
    expect(jobTemplate.spec.activeDeadlineSeconds).toBeGreaterThan(2 * 86_400);
    const [container] = jobTemplate.spec.template.spec.containers;
    expect(container.args).toEqual(['update']);
  });

  it.each(deliveries)('fails visibly until the next daily run, and then no more, in the delivery %s', (delivery) => {
    const objects = installed(published, delivery);
    const { jobTemplate } = getJob(objects);
    // The next run starts a day after the start of this one, so before this Job is deleted.
    expect(parseSettings({}).updater.schedule).toMatch(/^\d+ \d+ \* \* \*$/);
    expect(jobTemplate.spec.ttlSecondsAfterFinished).toBe(86_400);
    const annotations = objects.filter(({ kind }) => kind === 'CronJob').map(({ metadata }) => metadata.annotations);
    expect(annotations).toEqual([{ 'argocd.argoproj.io/ignore-healthcheck': 'true' }]);
  });

  it.each(deliveries)('only checks in the delivery %s, without further rights', (delivery) => {
    const objects = installed({ mode: 'check', ...published }, delivery);
    expect(getKinds(objects)).toEqual(always);
    expect(getJob(objects).suspend).toBe(false);
    const rules = objects.find(({ kind }) => kind === 'Role')?.['rules'];
    expect(rules).toEqual(checkRules('lumigo-lumigo-operator').map(({ why: _why, ...rule }) => rule));
  });

  it('has the rights to upgrade only while an upgrade is possible', () => {
    expect(getKinds(installed({ mode: 'upgrade', ...trusting }))).toEqual(
      expect.arrayContaining([...always, 'ClusterRole', 'ClusterRoleBinding']),
    );
    for (const unable of [{}, published, { verify: trusting.verify }]) {
      const objects = installed({ mode: 'upgrade', repository: '', ...unable });
      expect(getKinds(objects)).toEqual(always);
      expect(getJob(objects).suspend).toBe(true);
      expect(JSON.stringify(objects)).not.toMatch(/escalate|secrets"/);
    }
  });

  it.each(deliveries)('is absent from the delivery %s if it is off', (delivery) => {
    expect(installed({ mode: 'off' }, delivery)).toEqual([]);
  });

  it.each(['Manifests', 'Pulumi'] as const)('upgrades nothing in the delivery %s, and says why', (delivery) => {
    expect(() => installed({ mode: 'upgrade' }, delivery)).toThrow(
      'updater.mode is "upgrade", but only a Helm release can be upgraded. Set it to check or off, or install with Helm',
    );
  });

  it.each([
    [{ mode: 'check', repository: '' }, suspended.noRepository],
    [{ mode: 'upgrade', ...trusting, repository: '' }, suspended.noRepository],
    [{ mode: 'upgrade', ...published }, suspended.noKeyring],
    [{ mode: 'upgrade', ...trusting }, undefined],
    [{ mode: 'upgrade', ...published, verify: { unsigned: 'accept' } }, undefined],
    [{ mode: 'check', ...published }, undefined],
    [{ mode: 'off', repository: '' }, undefined],
  ])('with %j is suspended for the reason that applies', (given, why) => {
    const { updater } = parseSettings({ updater: given });
    expect(whySuspended(updater)).toBe(why);
    expect(mayUpgrade(updater)).toBe(why === undefined && updater.mode === 'upgrade');
  });

  it('gets its task in a configuration that its program reads', () => {
    const [{ env }] = getJob(installed({ mode: 'upgrade', ...trusting })).jobTemplate.spec.template.spec.containers;
    const environment = Object.fromEntries(env.map(({ name, value = 'a-pod' }) => [name, value]));
    expect(readConfiguration(updaterKinds, environment)).toMatchObject({
      mode: 'upgrade',
      repository: published.repository,
      keyring: '/etc/lumigo/keyring/keyring.gpg',
      podName: 'a-pod',
    });
  });
});
