import { describe, expect, it } from '@jest/globals';
import { changed, decided, injector, instrumented, made, older, withPod } from '../../sandbox/testing/injection.ts';
import type { Workload } from '../api/objects.ts';
import type { DecisionInput } from './decision.ts';
import { findInjector } from './init-container.ts';
import { uninstrument } from './remove.ts';
import { toTemplate } from './workload.ts';

/** Changes the injector's container as another mutating webhook does. */
const withInjector = (workload: Workload, change: object): Workload =>
  withPod(workload, ({ initContainers = [] }) => ({
    initContainers: initContainers.map((each) => (each.name === 'lumigo-injector' ? { ...each, ...change } : each)),
  }));

const mirrored = (workload: Workload): Workload => withInjector(workload, { image: 'mirror/autotrace:2' });
const withApp = (workload: Workload, change: object): Workload =>
  withPod(workload, ({ containers: [app, ...more] }) => ({ containers: [{ ...app, ...change }, ...more] }));

const getImage = (workload: Workload) => findInjector(toTemplate(workload)?.spec)?.['image'];

/** Each call of the webhook, which the API server repeats after a change by another webhook. */
function call(workload: Workload, more: Partial<DecisionInput>) {
  const decision = decided(workload, { by: 'webhook', ...more });
  return { decision, workload: decision.kind === 'none' ? workload : decision.workload };
}

/** Another webhook acts after each call. */
function review(workload: Workload, more: Partial<DecisionInput>) {
  const first = call(workload, more);
  return { first, second: call(mirrored(first.workload), more) };
}

describe('the change of another webhook to the injector', () => {
  const create = { operation: 'CREATE' } as const;
  const stored = mirrored(instrumented());
  const limits = { resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '500m', memory: '64Mi' } } };

  it('stays when the API server calls the webhook again at a creation', () => {
    const { first, second } = review(made(), create);
    expect(getImage(second.workload)).toBe('mirror/autotrace:2');
    expect(toTemplate(second.workload)).toEqual(toTemplate(mirrored(first.workload)));
    expect(uninstrument(second.workload)).toEqual(made());
  });

  it.each([
    ['the program', withApp(stored, { image: 'app:2' }), undefined],
    ['the resources', withApp(stored, limits), '64Mi'],
  ])('stays when a user changes %s', (_what, workload, memory) => {
    const { first, second } = review(workload, { operation: 'UPDATE', old: stored });
    expect(getImage(second.workload)).toBe('mirror/autotrace:2');
    expect([first, second].map(({ decision }) => decision.tried)).toEqual(['nothing', 'nothing']);
    const resources = [first, second].map((each) => findInjector(toTemplate(each.workload)?.spec)?.resources);
    expect(resources.map((each) => each?.limits?.['memory'])).toEqual([memory, memory]);
  });

  it('stays when it also adds a container, which is injected', () => {
    const first = call(made(), create);
    const more = withPod(mirrored(first.workload), ({ containers }) => ({
      containers: [...containers, { name: 'more' }],
    }));
    const second = call(more, create);
    expect(getImage(second.workload)).toBe('mirror/autotrace:2');
    expect(toTemplate(second.workload)?.spec.containers.at(-1)?.volumeMounts).toHaveLength(1);
  });

  it('is no reason for the reconciler to renew the injection', () => {
    expect(decided(stored, { renew: true })).toMatchObject({ kind: 'none', code: 'up-to-date' });
  });

  it('gives way to an upgrade of the injector', () => {
    const before = mirrored(instrumented(made(), { injector: older }));
    const after = call(withApp(before, { image: 'app:2' }), { operation: 'UPDATE', old: before });
    expect(getImage(after.workload)).toBe(injector.image);
  });

  it('gives way if the injector would no longer copy its files', () => {
    const broken = withInjector(instrumented(), { image: 'mirror/autotrace:2', env: [] });
    const after = call(withApp(broken, { image: 'app:2' }), { operation: 'UPDATE', old: broken });
    expect(getImage(after.workload)).toBe(injector.image);
  });

  it('lets an injection that an update adds count as added', () => {
    const { first, second } = review(made(), { operation: 'UPDATE', old: withApp(made(), { image: 'app:0' }) });
    expect([first.decision.tried, second.decision.tried]).toEqual(['add', 'add']);
  });
});

describe('one image for all containers, as `kubectl set image` writes it', () => {
  const withImage = (workload: Workload, image: string): Workload =>
    withInjector(withApp(workload, { image }), { image });
  const getImages = (workload: Workload) => [getImage(workload), toTemplate(workload)?.spec.containers[0]?.image];
  const old = instrumented();

  it('stays that of the app, and the injector keeps its own', () => {
    const after = call(withImage(old, 'app:2'), { operation: 'UPDATE', old }).workload;
    expect(getImages(after)).toEqual([injector.image, 'app:2']);
    expect(uninstrument(after)).toEqual(withApp(made(), { image: 'app:2' }));
  });

  it.each<[string, Partial<DecisionInput>]>([
    ['by the reconciler, if the webhook missed it', {}],
    ['by the webhook, when the next update changes no program', { operation: 'UPDATE', old: withImage(old, 'app:2') }],
  ])('is corrected %s', (_by, more) => {
    const after = changed(decided(withImage(old, 'app:2'), more));
    expect(getImages(after)).toEqual([injector.image, 'app:2']);
    expect(decided(after).kind).toBe('none');
  });

  it.each([
    ['is accepted if the app has the image of the injector', instrumented(withApp(made(), { image: injector.image }))],
    ['is not that of a mirror, which stays', withApp(mirrored(old), { image: 'mirror/app:2' })],
  ])('%s', (_title, workload) => {
    expect(decided(workload)).toMatchObject({ kind: 'none', code: 'up-to-date' });
    const after = call(withApp(workload, { command: ['go'] }), { operation: 'UPDATE', old: workload }).workload;
    expect(getImages(after)).toEqual(getImages(workload));
  });
});
