import { describe, expect, it } from '@jest/globals';
import { instrumentedByOriginal, originalLabel } from '../../sandbox/original/injected.ts';
import {
  changed,
  decided,
  injector,
  made,
  tracing,
  withContainers,
  withMetadata,
  activePolicy,
} from '../../sandbox/testing/injection.ts';
import { mutableKinds } from '../../sandbox/testing/workloads.ts';
import { annotations, labels } from '../contract.ts';
import { none, type DecisionInput } from './decision.ts';
import { inject } from './inject.ts';
import { isInjected, remove, uninstrument } from './remove.ts';
import { findOptIn, getInjectionStatus } from './injection-status.ts';
import { asItOptedIn } from './standing.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

/** The original operator leaves workloads instrumented without a record of the values before. */

const plain = toTemplate(
  made({
    env: [{ name: 'OWN', value: '1' }],
    pod: {
      initContainers: [{ name: 'migrate', image: 'migrate:1' }],
      volumes: [{ name: 'data', emptyDir: {} }],
      securityContext: { fsGroup: 3000 },
    },
  }),
) as PodTemplate;
const later = toTemplate(instrumentedByOriginal(withTemplate(made(), plain), { logs: true })) as PodTemplate;
const variablesOfFirst = ['OWN', 'LD_PRELOAD', 'LUMIGO_TRACER_TOKEN', 'LUMIGO_ENDPOINT'];

const inSpec = (template: PodTemplate, change: (spec: PodTemplate['spec']) => object): PodTemplate => ({
  ...template,
  spec: { ...template.spec, ...change(template.spec) },
});
/** The original's first releases wrote three variables, the later ones seven. */
const first = inSpec(later, ({ containers }) => ({
  containers: containers.map(({ env = [], ...rest }) => ({
    ...rest,
    env: env.filter(({ name }) => variablesOfFirst.includes(name)),
  })),
}));

const policy = activePolicy({ ...tracing, secretName: 'lumigo-credentials', secretKey: 'token', logs: true });
const deleting = { kind: 'deleting', lumigo: 'lumigo', remove: true } as const;
const judge = (workload: Workload, more: Partial<DecisionInput> = {}) => decided(workload, { policy, ...more });
const own = { labels: { [labels.autoTrace]: originalLabel } };

describe.each([
  ['first', first],
  ['later', later],
])('an injection of a %s release of the original operator [D6, D10, D17]', (_release, template) => {
  it('is recognized, and is removed whole, also without its label and after an addition', () => {
    expect(isInjected(template)).toBe(true);
    expect(remove(template)).toEqual(plain);
    expect(remove({ ...template, metadata: {} }).spec).toEqual(plain.spec);
    const added = inSpec(template, ({ initContainers = [] }) => ({
      initContainers: initContainers.map((each) => ({ ...each, env: [...(each.env ?? []), { name: 'X' }] })),
    }));
    expect(remove(added).spec.initContainers?.map(({ name }) => name)).toEqual(['migrate']);
  });

  it('is renewed as if it were new', () => {
    const settings = { ...injector, ...policy.tracing };
    expect(inject(template, settings)).toEqual(inject(plain, settings));
  });

  it.each(mutableKinds)('in a %s is renewed when the user changes the pod, and removed with its Lumigo', (_, kind) => {
    const old = withTemplate(made(own, kind), template);
    const next = withContainers(old, () => ({ image: 'app:2' }));
    const decision = judge(next, { operation: 'UPDATE', old, by: 'webhook' });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'update' });
    expect(changed(decision).metadata.labels?.[labels.autoTrace]).toBe('lumigo-operator.v2.0.0');
    expect(toTemplate(changed(decision))?.spec.initContainers?.[1]).toMatchObject({ image: 'autotrace:2' });
    expect(changed(judge(old, { policy: deleting }))).toEqual(withTemplate(made({}, kind), plain));
  });
});

describe('an upgrade from the original operator [D17]', () => {
  const found = withTemplate(made(own), later);

  it('restarts nothing', () => {
    const decision = judge(found);
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'relabelled' });
    expect(toTemplate(changed(decision))).toBe(toTemplate(found));
    expect(judge(changed(decision))).toMatchObject({ kind: 'none', code: 'up-to-date' });
  });

  it.each<[string, Partial<DecisionInput>]>([
    ['they are renewed', { renew: true }],
    ['the Lumigo has another Secret', { policy: activePolicy({ ...policy.tracing, secretName: 'other' }) }],
    ['the Lumigo changed after the injection', { policy: activePolicy({ ...policy.tracing, logs: false }) }],
  ])('restarts workloads if %s', (_why, more) => {
    expect(judge(found, more)).toMatchObject({ kind: 'inject', tried: 'update' });
  });

  it('removes injections whose label or Lumigo asks for it, which the original ignored', () => {
    const optedOut = withMetadata(found, { labels: { [labels.autoTrace]: 'false' } });
    for (const removal of [judge(optedOut), judge(found, { policy: { ...deleting, kind: 'disabled' } })]) {
      expect(removal.kind).toBe('remove');
      expect(toTemplate(changed(removal))).toEqual(plain);
    }
  });

  it('restarts nothing that sent no traces and still must not', () => {
    const silent = withContainers(found, ({ env = [] }) => ({
      env: env.map((each) => (each.name === 'LUMIGO_ENABLE_TRACES' ? { ...each, value: 'false' } : each)),
    }));
    const more = { policy: activePolicy({ ...policy.tracing, traces: false }) };
    expect(judge(silent, more)).toMatchObject({ tried: 'nothing', code: 'relabelled' });
  });

  it('keeps the pod on an update that does not change it', () => {
    const scaled = { ...found, spec: { ...(found['spec'] as object), replicas: 5 } };
    const decision = judge(scaled, { operation: 'UPDATE', old: found, by: 'webhook' });
    expect(toTemplate(changed(decision))).toBe(toTemplate(scaled));
    expect(decision.tried).toBe('nothing');
  });
});

const alone = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decided(workload, { policy: { kind: 'none' }, ...more });
const adopted = (workload: Workload, more: Partial<DecisionInput> = {}) => changed(alone(workload, more));

describe.each(mutableKinds)('a %s that opted in by its label, without a Lumigo [F50]', (_name, kind) => {
  const workload = instrumentedByOriginal(made({}, kind));

  it('is adopted as it is: no pod restarts, and no event', () => {
    expect(alone(workload)).toMatchObject({ kind: 'inject', tried: 'nothing' });
    expect(toTemplate(adopted(workload))).toBe(toTemplate(workload));
    expect(adopted(workload).metadata.annotations?.[annotations.instrumentation]).toMatch(/^adopted .* label=true$/);
    expect(alone(adopted(workload))).toMatchObject({ kind: 'none', code: 'up-to-date' });
    expect(findOptIn(workload.metadata)).toBeUndefined();
    expect(findOptIn(adopted(workload).metadata)).toMatchObject({ secretName: 'lumigo-credentials' });
  });

  it('is restored when its user no longer opts in', () => {
    const ceased = withMetadata(adopted(workload), { labels: { app: 'app' } });
    expect(adopted(ceased)).toEqual(made({}, kind));
  });

  it('is renewed if the settings ask for it, and restored when its user opts out', () => {
    const renewed = adopted(workload, { renew: true });
    expect(toTemplate(renewed)?.spec.initContainers).toMatchObject([{ image: 'autotrace:2' }]);
    expect(getInjectionStatus(renewed.metadata)?.userLabel).toBe('true');
    const old = adopted(workload);
    const optOut = withMetadata(old, { labels: { app: 'app', [labels.autoTrace]: 'false' } });
    const restored = adopted(optOut, { operation: 'UPDATE', old, by: 'webhook' });
    expect(restored).toEqual(made({ labels: { [labels.autoTrace]: 'false' } }, kind));
  });
});

describe('an injection of the original operator [F50]', () => {
  it('without a Lumigo has the settings of its labels', () => {
    const logging = made({ labels: { [labels.enableLogs]: 'true' } });
    const workload = instrumentedByOriginal(logging, { logs: true });
    expect(getInjectionStatus(adopted(workload).metadata)?.tracing).toMatchObject({ logs: true });
    expect(toTemplate(adopted(workload))).toBe(toTemplate(workload));
  });

  it('is adopted by the webhook as well, which may be faster', () => {
    const workload = instrumentedByOriginal(made());
    const scaled = { ...workload, spec: { ...(workload['spec'] as object), replicas: 5 } };
    const after = adopted(scaled, { operation: 'UPDATE', old: workload, by: 'webhook' });
    expect(getInjectionStatus(after.metadata)?.userLabel).toBe('true');
    expect(toTemplate(after)).toEqual(toTemplate(workload));
  });

  it.each([
    ['logs', { logs: true }],
    ['another Secret', { secretName: 'my-lumigo-token' }],
  ])('left behind by a deleted Lumigo with %s stays until a Lumigo asks for it', (_setting, own) => {
    const workload = instrumentedByOriginal(made(), own);
    expect(alone(workload)).toEqual(none('no-lumigo', workload));
    expect(alone(workload, { renew: true })).toEqual(none('no-lumigo', workload));
    const scaled = { ...workload, spec: { ...(workload['spec'] as object), replicas: 5 } };
    expect(alone(scaled, { operation: 'UPDATE', old: workload, by: 'webhook' })).toEqual(none('no-lumigo', scaled));
    const asked = activePolicy({ ...policy.tracing, logs: false, ...own });
    expect(judge(workload, { policy: asked })).toMatchObject({ tried: 'nothing', code: 'relabelled' });
    expect(uninstrument(asItOptedIn(workload))).toEqual(made());
  });

  it("may leave its own label value after removal, which is not restored as the user's", () => {
    const workload = made({ labels: { [labels.autoTrace]: 'skip-next-injector' } });
    expect(getInjectionStatus(changed(judge(workload)).metadata)?.userLabel).toBeUndefined();
  });
});
