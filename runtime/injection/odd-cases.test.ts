import { describe, expect, it } from '@jest/globals';
import { injector, tracing } from '../../sandbox/testing/injection.ts';
import { annotations, labels, workloadKinds } from '../contract.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';
import { decide, type DecisionInput } from './decide.ts';
import { inject } from './inject.ts';
import { isIntact } from './intact.ts';
import { part } from './joined-list.ts';
import { workloadPatch } from './patch.ts';
import { remove } from './remove.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { InjectionSettings } from './types.ts';
import { templateOf, withTemplate } from './workload.ts';

const settings = { ...injector, ...tracing };
const plain: PodTemplate = {
  metadata: { labels: { app: 'app' } },
  spec: { containers: [{ name: 'app', image: 'a' }] },
};
const withSpec = (spec: object): PodTemplate => ({ ...plain, spec: { ...plain.spec, ...spec } });

function injected(template: PodTemplate, more: Partial<InjectionSettings> = {}): PodTemplate {
  const result = inject(template, { ...settings, ...more });
  if (result.refused !== undefined) throw new Error(result.refused);
  return result.template;
}

const active = {
  state: 'active',
  lumigo: 'l',
  tracing: { secretName: 's', secretKey: 'k', traces: true, logs: false },
  createdAt: '',
  injectExisting: true,
  remove: true,
} as const;
const judge = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decide({
    workload,
    operation: 'RECONCILE',
    policy: active,
    injector: settings,
    now: '2026-01-01T00:00:00.000Z',
    by: 'controller',
    ...more,
  });
const workload = (template: PodTemplate, more: object = {}): Workload => {
  const made = workloadOf(workloadKinds.deployment, 'shop', 'app') as unknown as Workload;
  return withTemplate({ ...made, metadata: { ...made.metadata, ...more } }, template);
};

describe('odd cases of injection', () => {
  it('D17: an injection of the original operator is adopted as it stands, without a restart and without an event', () => {
    const original: PodTemplate = {
      metadata: { labels: { [labels.autoTrace]: 'lumigo-operator.v69' } },
      spec: {
        containers: [
          {
            name: 'app',
            image: 'a',
            env: [
              { name: 'LUMIGO_TRACER_TOKEN', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
            ],
            volumeMounts: [{ name: 'lumigo-injector', mountPath: '/opt/lumigo' }],
          },
        ],
        initContainers: [{ name: 'lumigo-injector', env: [{ name: 'TARGET_DIRECTORY', value: '/target' }] }],
        volumes: [{ name: 'lumigo-injector', emptyDir: {} }],
      },
    };
    const found = workload(original, { labels: { [labels.autoTrace]: 'lumigo-operator.v69' } });
    const decision = judge(found);
    expect(decision).toMatchObject({ action: 'inject', tried: 'nothing', code: 'relabelled' });
    if (decision.action !== 'inject') return;
    expect(templateOf(decision.workload)).toBe(templateOf(found));
    expect(decision.workload.metadata.annotations?.[annotations.instrumentation]).toMatch(/^adopted /);
    expect(judge(found, { policy: { ...active, tracing: { ...active.tracing, secretName: 'other' } } })).toMatchObject({
      tried: 'update',
    });
    // Without its label it is still no volume of the user's.
    expect(remove({ ...original, metadata: {} }).spec).toEqual({ containers: [{ name: 'app', image: 'a' }] });
  });

  it('D10: a mount of the volume that somebody else has made goes with the volume', () => {
    const template = injected(withSpec({ initContainers: [{ name: 'mine', image: 'i' }] }));
    const mount = { name: 'lumigo-injector', mountPath: '/x' };
    const initContainers =
      template.spec.initContainers?.map((each) => ({ ...each, volumeMounts: [...(each.volumeMounts ?? []), mount] })) ??
      [];
    expect(remove({ ...template, spec: { ...template.spec, initContainers } }).spec.initContainers).toEqual([
      { name: 'mine', image: 'i' },
    ]);
  });

  it('an annotation that is no record of ours is none', () => {
    for (const text of [
      'nonsense',
      '5',
      '{}',
      '{"endpoint":"e","secretName":"s","secretKey":"k","traces":true,"logs":false,"pullSecrets":5}',
    ]) {
      const template = { ...plain, metadata: { ...plain.metadata, annotations: { [annotations.injection]: text } } };
      expect(remove(template)).toEqual(template);
      expect(inject(template, settings)).toHaveProperty('template');
    }
  });

  it('metadata that is there and empty stays there', () => {
    const template = { ...plain, metadata: {} };
    expect(remove(injected(template))).toEqual(template);
    const { metadata: _none, ...bare } = plain;
    expect(remove(injected(bare))).toEqual(bare);
  });

  it.each([
    ['/opt//lumigo', 'kept'],
    ['/opt/lumigo/', 'kept'],
    ['/opt//lumigo/x', 'left alone'],
  ])('a mount at %s is read as the container runtime reads it', (mountPath, expected) => {
    const containers = [
      { name: 'app', image: 'a', volumeMounts: [{ name: 'v', mountPath }] },
      { name: 'other', image: 'b' },
    ];
    const template = withSpec({ containers, volumes: [{ name: 'v', emptyDir: {} }] });
    const result = inject(template, settings);
    expect(result.refused === undefined && result.leftAlone.length === 1).toBe(expected === 'left alone');
    expect(remove(injected(template))).toEqual(template);
  });

  it('a read-only volume above the injector leaves no place for it', () => {
    const containers = [{ name: 'app', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/opt' }] }];
    const refused = (volume: object) =>
      inject(withSpec({ containers, volumes: [{ name: 'v', ...volume }] }), settings).refused;
    expect(refused({ configMap: { name: 'c' } })).toMatch(/read-only volume 'v' is mounted at \/opt/);
    expect(refused({ emptyDir: {} })).toBeUndefined();
    expect(refused({ image: { reference: 'assets' } })).toMatch(/read-only volume 'v'/);
    expect(refused({ persistentVolumeClaim: { claimName: 'c', readOnly: true } })).toMatch(/read-only volume 'v'/);
    expect(refused({ nfs: { server: 's', path: '/', readOnly: true } })).toMatch(/read-only volume 'v'/);
    expect(refused({ persistentVolumeClaim: { claimName: 'c' } })).toBeUndefined();
  });

  it('one container with a small ephemeral-storage limit is enough to have the pod evicted', () => {
    const containers = [{ name: 'a', resources: { limits: { 'ephemeral-storage': '100Mi' } } }, { name: 'b' }];
    expect(inject(withSpec({ containers }), settings).refused).toMatch(/are too low/);
  });

  it('OpenShift: nothing is pinned, unless the pod itself pins it', () => {
    const context = (template: PodTemplate) =>
      injected(template, { platform: 'openshift' }).spec.initContainers?.[0]?.['securityContext'];
    expect(context(plain)).not.toHaveProperty('runAsUser');
    expect(context(plain)).not.toHaveProperty('seccompProfile');
    expect(context(withSpec({ securityContext: { runAsUser: 0 } }))).toMatchObject({ runAsUser: 1234 });
    const containers = [{ name: 'a', securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }];
    expect(context(withSpec({ containers }))).toMatchObject({ seccompProfile: { type: 'RuntimeDefault' } });
  });

  it('every part of the injection that is missing or changed is noticed, and what the user added to LD_PRELOAD is not', () => {
    const template = injected(plain);
    const [container] = template.spec.containers;
    const env = container?.env ?? [];
    const withEnv = (changed: readonly object[]) =>
      ({ ...template, spec: { ...template.spec, containers: [{ ...container, env: changed }] } }) as PodTemplate;
    for (const { name } of env)
      expect(isIntact(withEnv(env.filter((each) => each.name !== name)), settings)).toBe(false);
    const replace = (name: string, value: string) =>
      env.map((each) => (each.name === name ? { ...each, value } : each));
    expect(isIntact(withEnv(replace('LUMIGO_ENABLE_TRACES', 'false')), settings)).toBe(false);
    expect(isIntact(withEnv(replace('LD_PRELOAD', '/opt/lumigo/injector/lumigo_injector.so:/u.so')), settings)).toBe(
      true,
    );
    const { [annotations.safeToEvict]: _gone, ...rest } = template.metadata?.annotations ?? {};
    expect(isIntact({ ...template, metadata: { ...template.metadata, annotations: rest } }, settings)).toBe(false);
  });

  it.each([
    ['ours', undefined],
    ['/a.so:ours', '/a.so'],
    ['/a.so /b.so:ours', '/a.so /b.so'],
    ['ours:/a.so /b.so', '/a.so /b.so'],
    ['/a.so:ours:/b.so', '/a.so:/b.so'],
    ['/a.so', '/a.so'],
    [':ours', undefined],
  ])('parting %s leaves %s', (joined, expected) => {
    expect(part(joined, 'ours')).toBe(expected);
  });

  it('a label may be called like something that every object inherits', () => {
    const patch = (before: Record<string, string>, after: Record<string, string>) =>
      workloadPatch(workload(plain, { labels: before }), workload(plain, { labels: after }));
    const place = '/metadata/labels';
    expect(patch({ constructor: 'x' }, {})).toEqual([{ op: 'remove', path: `${place}/constructor` }]);
    expect(patch({}, { toString: 'x' })).toEqual([{ op: 'add', path: `${place}/toString`, value: 'x' }]);
  });

  it('empty labels of an opted-in workload mean the defaults', () => {
    const own = { [labels.autoTrace]: 'true', [labels.tokenKey]: '', [labels.tokenSecret]: '' };
    const decision = judge(workload(plain, { labels: own }), { policy: { state: 'none' }, operation: 'CREATE' });
    expect(JSON.stringify(decision)).toContain(
      '"secretKeyRef":{"name":"lumigo-credentials","key":"token","optional":true}',
    );
  });

  it('a copy of an instrumented workload is new', () => {
    const copy = workload(injected(plain), { labels: { [labels.autoTrace]: 'lumigo-operator.v2.0.0' } });
    expect(judge(copy, { operation: 'CREATE', by: 'webhook' })).toMatchObject({ action: 'inject', tried: 'add' });
  });
});
