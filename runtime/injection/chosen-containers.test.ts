import { describe, expect, it } from '@jest/globals';
import { decided as decide, injector, withContainers, withMetadata, withPod } from '../../sandbox/testing/injection.ts';
import { annotations, environment } from '../contract.ts';
import { knownSidecars } from './chosen-containers.ts';
import { remove } from './remove.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { InjectorSettings } from './types.ts';
import { toTemplate, withTemplate } from './workload.ts';

const { injectContainers: only, excludeContainers: not } = annotations;

function workload(own: Record<string, string>, pods: Record<string, string>): Workload {
  const containers = ['app', 'worker', 'istio-proxy'].map((name) => ({ name, image: `${name}:1` }));
  const annotated = Object.keys(pods).length === 0 ? {} : { annotations: pods };
  const template = { metadata: { labels: { app: 'cart' }, ...annotated }, spec: { containers } };
  const metadata = { name: 'cart', namespace: 'shop', annotations: own };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template } };
}

const decided = (seen: Workload, more: Partial<InjectorSettings> = {}, old?: Workload) =>
  decide(seen, {
    ...(old && { operation: 'UPDATE', old }),
    injector: { ...injector, sidecars: knownSidecars, ...more },
  });

function injected(seen: Workload, more: Partial<InjectorSettings> = {}, old?: Workload): Workload {
  const decision = decided(seen, more, old);
  return decision.kind === 'inject' ? decision.workload : seen;
}

const tracedIn = (seen: Workload): string[] =>
  (toTemplate(seen) as PodTemplate).spec.containers
    .filter(({ env }) => env?.some(({ name }) => name === environment.token) === true)
    .map(({ name }) => name);

describe('the containers that are injected', () => {
  it.each([
    ['are all but known sidecars', {}, {}, ['app', 'worker']],
    ['are those that the workload names', { [only]: 'worker, istio-proxy' }, {}, ['worker', 'istio-proxy']],
    ['are those that the pods name, whatever the workload says', { [only]: 'worker' }, { [only]: 'app' }, ['app']],
    ['are not those that the workload excludes', { [not]: 'worker' }, {}, ['app']],
    [
      'are not those that the pods exclude, whatever the workload excludes',
      { [not]: 'worker' },
      { [not]: 'app' },
      ['worker'],
    ],
    ['are not those that are both named and excluded', { [only]: 'app,worker' }, { [not]: 'app' }, ['worker']],
    ['are all where an annotation names nothing', { [only]: ' , ' }, { [not]: '' }, ['app', 'worker']],
  ])('%s', (_title, own, pods, expected) => {
    const seen = workload(own, pods);
    const decision = decided(seen);
    expect(tracedIn(injected(seen))).toEqual(expected);
    expect(decision.kind === 'inject' && decision.skipped).toEqual([]);
    const { template } = injected(seen)['spec'] as { template: PodTemplate };
    expect(remove(template)).toEqual((seen['spec'] as { template: PodTemplate }).template);
    expect(decided(injected(seen)).code).toBe('up-to-date');
  });

  it('are none if every container is skipped, with the reasons', () => {
    const decision = decided(workload({ [only]: 'other' }, {}));
    expect(decision).toMatchObject({ kind: 'none', code: 'refused', tried: 'add' });
    expect(decision.message).toContain(`container 'app' is skipped: the annotation ${only} does not include it`);
  });

  it('are none with an event if the annotation names only a known sidecar that cannot be injected', () => {
    const env = [{ name: 'LD_PRELOAD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
    const sidecar = { metadata: {}, spec: { containers: [{ name: 'istio-proxy', image: 'istio-proxy:1', env }] } };
    const alone = withTemplate(workload({ [only]: 'istio-proxy' }, {}), sidecar);
    expect(decided(alone)).toMatchObject({ kind: 'none', code: 'refused', tried: 'add' });
    const mistyped = withMetadata(alone, { annotations: { [only]: 'istio-prox' } });
    expect(decided(mistyped)).toMatchObject({ kind: 'none', code: 'refused', tried: 'add' });
  });

  it.each([
    ['their user excludes them', 'app,worker,istio-proxy'],
    ['their user excludes them, apart from known sidecars', 'app,worker'],
  ])('are none if %s, without an event', (_title, names) => {
    const decision = decided(workload({ [not]: names }, {}));
    expect(decision).toMatchObject({ kind: 'none', code: 'refused', tried: 'nothing' });
    expect(decision.message).toContain(`container 'app' is skipped: the annotation ${not} excludes it`);
  });

  it('are none with an event if the user excludes one and the other has another tracer', () => {
    const env = [{ name: 'NODE_OPTIONS', value: '--require /datadog-lib/index.js' }];
    const traced = withContainers(workload({ [not]: 'app' }, {}), ({ name }) => (name === 'worker' ? { env } : {}));
    expect(decided(traced)).toMatchObject({ kind: 'none', code: 'refused', tried: 'add' });
  });

  it('are removed with an event if their user excludes them later', () => {
    const before = injected(workload({}, {}));
    const { annotations: found } = before.metadata;
    const after = withMetadata(before, { annotations: { ...found, [not]: 'app,worker' } });
    expect(decided(after, {}, before)).toMatchObject({ kind: 'remove', cause: 'refused' });
  });

  it('change with the annotation, and not with a newer list of known sidecars', () => {
    const before = injected(workload({}, {}), { sidecars: [] });
    expect(tracedIn(before)).toEqual(['app', 'worker', 'istio-proxy']);
    expect(decided(before).code).toBe('up-to-date');
    const annotate = (own: Record<string, string>) =>
      withMetadata(before, { annotations: { ...before.metadata.annotations, ...own } });
    expect(tracedIn(injected(annotate({ [not]: 'istio-proxy' })))).toEqual(['app', 'worker']);
    expect(tracedIn(injected(annotate({ [only]: 'app' })))).toEqual(['app']);
  });

  it.each([
    ['excludes them', { [not]: 'worker,istio-proxy' }],
    ['includes others', { [only]: 'app' }],
  ])('are injected once the annotation that %s is gone, but for known sidecars', (_what, own) => {
    const before = injected(workload(own, {}));
    expect(tracedIn(before)).toEqual(['app']);
    const { [only]: _only, [not]: _not, ...left } = before.metadata.annotations ?? {};
    const after = withMetadata(before, { annotations: left });
    for (const old of [undefined, before]) {
      const changed = injected(after, {}, old);
      expect(tracedIn(changed)).toEqual(['app', 'worker']);
      expect(decided(changed).code).toBe('up-to-date');
    }
  });

  it('cause no change if another tracer instruments those that are no longer excluded', () => {
    const plain = workload({ [not]: 'worker' }, {});
    const env = [{ name: 'NODE_OPTIONS', value: '--require /datadog-lib/index.js' }];
    const before = injected(withContainers(plain, ({ name }) => (name === 'worker' ? { env } : {})));
    const { [not]: _not, ...left } = before.metadata.annotations ?? {};
    expect(decided(withMetadata(before, { annotations: left })).code).toBe('up-to-date');
  });

  it.each([
    ['an init container', {}],
    ['a native sidecar', { restartPolicy: 'Always' }],
  ])('include %s only by name, and then the injector runs first', (_what, fields) => {
    const inits = [{ name: 'wait' }, { name: 'migrate', ...fields }].map((each) => ({ image: 'init:1', ...each }));
    const withInits = (own: Record<string, string>) => withPod(workload(own, {}), () => ({ initContainers: inits }));
    const getInits = (seen: Workload) => toTemplate(seen)?.spec.initContainers ?? [];
    const order = (seen: Workload) => getInits(seen).map(({ name }) => name);
    expect(order(injected(withInits({})))).toEqual(['wait', 'migrate', 'lumigo-injector']);
    const named = withInits({ [only]: 'app,migrate', [not]: 'wait' });
    const traced = injected(named);
    expect(order(traced)).toEqual(['lumigo-injector', 'wait', 'migrate']);
    const hasToken = getInits(traced).map(({ env = [] }) => env.some(({ name }) => name === environment.token));
    expect(hasToken).toEqual([false, false, true]);
    expect(decided(traced).code).toBe('up-to-date');
    expect(remove(toTemplate(traced) as PodTemplate)).toEqual(toTemplate(named));
    const { annotations: found } = traced.metadata;
    const excluded = withMetadata(traced, { annotations: { ...found, [only]: 'app' } });
    expect(order(injected(excluded))).toEqual(['wait', 'migrate', 'lumigo-injector']);
  });
});
