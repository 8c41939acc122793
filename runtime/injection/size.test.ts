import { describe, expect, it } from '@jest/globals';
import {
  decided,
  instrumented,
  made,
  older,
  tracing,
  withMetadata,
  withRecord,
} from '../../sandbox/testing/injection.ts';
import { annotations, environment, labels } from '../contract.ts';
import type { Decision, DecisionInput } from './decision.ts';
import { workloadPatch } from './patch.ts';
import { uninstrument } from './remove.ts';
import { LARGEST, getSize } from './size.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

const sidecars = Array.from({ length: 230 }, (_, index) => `sidecar-${index}`);
const injector = { ...older, imagePullSecrets: ['a', 'b'], sidecars };

type Operation = DecisionInput['operation'];
const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'RECONCILE'];
const judge = (workload: Workload, operation: Operation, more: Partial<DecisionInput> = {}) =>
  decided(workload, { operation, injector, ...more });

const range = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const names = (count: number) => range(count, (index) => ({ name: `e${index}` }));

/** A namespace editor can write such a record: one of a later release, which wrote every present variable. */
const forged = (count: number) => ({
  endpoint: 'http://proxy',
  ...tracing,
  format: 99,
  pullSecrets: ['a'],
  skipped: ['other'],
  variables: names(count).map(({ name }) => name),
  kept: { app: { env: names(count) } },
});

function deployment(pod: object, optOut = false, record?: object): Workload {
  const workload = made({ labels: optOut ? { [labels.autoTrace]: 'false' } : {}, pod });
  return record === undefined ? workload : forge(workload, () => record);
}

const forge = (workload: Workload, change: (record: object) => object): Workload =>
  withTemplate(workload, withRecord(toTemplate(workload) as PodTemplate, change));

const app = (fields: object) => ({ name: 'app', image: 'app:1', ...fields });

const others = (count: number): string[] => range(count, (index) => `x${index}`);

/** An injection whose record has more names. */
const recorded = (pod: object, more: object): Workload =>
  forge(instrumented(made({ pod }), { injector }), (own) => ({ ...own, ...more }));

const pods: Readonly<Record<string, (count: number) => object>> = {
  env: (count) => ({ containers: [app({ env: names(count) })] }),
  'env of one name': (count) => ({ containers: [app({ env: range(count, () => ({ name: environment.preload })) })] }),
  containers: (count) => ({ containers: range(count, (index) => ({ name: `c${index}` })) }),
  'init containers': (count) => ({ containers: [app({})], initContainers: names(count) }),
  volumes: (count) => ({
    containers: [app({ volumeMounts: range(count, (i) => ({ name: `e${i}`, mountPath: '/opt' })) })],
    volumes: range(count, (i) => ({ name: `e${i}`, emptyDir: {} })),
  }),
  'pull secrets': (count) => ({ containers: [app({})], imagePullSecrets: names(count) }),
  'labels of nodes and of terms': (count) => ({
    containers: [app({})],
    nodeSelector: Object.fromEntries(range(count, (index) => [`n${index}`, ''])),
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: range(count, () => ({})) },
      },
    },
  }),
};

/** Containers of one name with this variable, which their record keeps in another form. */
function kept(count: number, variable: object, before: object): Workload {
  const { token: name } = environment;
  const record = { endpoint: 'http://proxy', ...tracing, kept: { app: { env: [{ name, ...before }] } } };
  const containers = range(count, () => app({ env: [{ name, ...variable }] }));
  return deployment({ containers }, false, record);
}

const fields = (count: number) => Object.fromEntries(range(count, (index) => [`k${index}`, '']));

/** Workloads with two lists that belong together. */
const lists: Readonly<Record<string, (count: number) => Workload>> = {
  'init containers and of included names': (count) =>
    withMetadata(made({ pod: { containers: [app({})], initContainers: names(count) } }), {
      annotations: { [annotations.injectContainers]: ['app', ...others(count)].join(',') },
    }),
  'init containers and of recorded ones': (count) =>
    recorded({ containers: [app({})], initContainers: names(count) }, { initContainers: others(count) }),
  'sidecars and of recorded ones': (count) => {
    const known = sidecars.slice(0, count);
    const containers = [app({}), ...known.map((name) => ({ name }))];
    return recorded({ containers }, { skipped: [...others(count), ...known] });
  },
  'containers and of fields of a kept variable': (count) => kept(count, { value: 'x' }, { valueFrom: fields(count) }),
  'containers with a source and of fields of a kept variable': (count) =>
    kept(count, { valueFrom: {} }, { valueFrom: fields(count) }),
  'variables of one name and of fields of a recorded one': (count) =>
    recorded(
      { containers: [app({ env: range(count, () => ({ name: 'X' })) })] },
      { env: { X: { value: 'x', ...fields(count) } } },
    ),
  'items of a variable and of its kept list': (count) =>
    kept(1, { x: range(count, (index) => index) }, { x: range(count, () => count - 1) }),
};

const searches = ['includes', 'indexOf', 'find', 'findIndex', 'some', 'every', 'filter', 'map', 'flatMap'] as const;

/** Counts what the act reads of the objects that it watches, and the members of each list that it makes or searches. */
function looks(act: (watched: <T>(value: T) => T) => void): number {
  let counted = 0;
  const known = new WeakMap<object, unknown>();
  const counting = <A extends unknown[], R>(trap: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      counted += 1;
      return trap(...args);
    };
  };
  const watched = <T>(value: T): T => {
    if (typeof value !== 'object' || value === null) return value;
    if (!known.has(value))
      known.set(
        value,
        new Proxy(value, {
          get: counting((target, key) => watched(Reflect.get(target, key) as unknown)),
          ownKeys: counting(Reflect.ownKeys),
          has: counting(Reflect.has),
        }),
      );
    return known.get(value) as T;
  };
  const { keys } = Object;
  Object.keys = (map: object) => {
    const list = keys(map);
    counted += list.length;
    return list;
  };
  const own = searches.map((name) => [name, Array.prototype[name]] as const);
  for (const [name, search] of own)
    Object.assign(Array.prototype, {
      [name](this: unknown[], ...args: never[]): unknown {
        counted += this.length;
        return Reflect.apply(search, this, args);
      },
    });
  try {
    act(watched);
  } finally {
    Object.keys = keys;
    Object.assign(Array.prototype, Object.fromEntries(own));
  }
  return counted;
}

/** Decides about a workload of this size, and makes the patch. */
const decide = (make: (count: number) => Workload, count: number, operation: Operation, more = {}) => {
  const workload = make(count);
  const old = operation === 'UPDATE' ? make(count) : undefined;
  return looks((watched) => {
    const watchedOne = watched(workload);
    const decision = judge(watchedOne, operation, { ...(old && { old: watched(old) }), ...more });
    if (decision.code === 'too-large') throw new Error('This size is too large for the measurement.');
    if (decision.kind !== 'none') workloadPatch(watchedOne, decision.workload);
  });
};

describe('the cost of a decision [F20]', () => {
  const shapes = [
    ...Object.entries(pods).flatMap(([shape, pod]) =>
      [false, true].map(
        (optOut) =>
          [
            shape + (optOut ? ', opted out' : ''),
            (count: number) => deployment(pod(count), optOut, forged(count)),
          ] as const,
      ),
    ),
    ...Object.entries(lists),
  ];
  const cases = shapes.flatMap(([shape, make]) => operations.map((operation) => [shape, operation, make] as const));

  it.each(cases)('is linear in the number of %s, on %s', (_shape, operation, make) => {
    expect(decide(make, 80, operation)).toBeLessThanOrEqual(2.05 * decide(make, 40, operation));
  });

  it.each(Object.entries(lists))('is linear in the number of %s, without an active Lumigo', (_shape, make) => {
    const inactive = { policy: { kind: 'inactive', lumigo: 'l', reason: 'SecretNotFound' } };
    expect(decide(make, 80, 'UPDATE', inactive)).toBeLessThanOrEqual(2.05 * decide(make, 40, 'UPDATE', inactive));
  });

  it.each(operations)('is bounded: 25,000 short names cause a warning and no change, on %s', (operation) => {
    for (const optOut of [false, true]) {
      // The record shows an injection, or the label if there is no record.
      const pod = { containers: [app({ env: names(25_000) })] };
      const decision = judge(deployment(pod, optOut, forged(10)), operation);
      expect(decision).toMatchObject({ kind: 'none', code: 'too-large', tried: optOut ? 'remove' : 'update' });
      expect(decision.message).toMatch(/exceeds the size limit .* more than 10000/);
    }
  });

  it('is not checked for objects that the operator does not change', () => {
    const pod = { containers: [app({ env: names(25_000) })] };
    expect(judge(deployment(pod, true), 'CREATE')).toMatchObject({ code: 'opted-out' });
    const { tried } = decided(deployment(pod), { policy: { kind: 'none' } });
    expect(tried).toBe('nothing');
  });

  it('is the same up to the bound, and zero beyond it', () => {
    const before = instrumented(deployment({ containers: [app({ env: names(1_900) })] }));
    const sized = (text: number) =>
      withMetadata(before, { annotations: { ...before.metadata.annotations, n: 'x'.repeat(text) } });
    const missing = 32 * (LARGEST - getSize(sized(0)));
    expect([getSize(sized(missing)), getSize(sized(missing + 32))]).toEqual([LARGEST, LARGEST + 1]);
    const deleting = { policy: { kind: 'deleting', lumigo: 'l', remove: true } } as const;
    expect([decided(sized(missing)).code, decided(sized(missing + 32)).code]).toEqual(['up-to-date', 'too-large']);
    expect([sized(missing), sized(missing + 32)].map((each) => decided(each, deleting).code)).toEqual([
      'removed',
      'too-large',
    ]);
    const codes = (make: (injected: Workload) => Decision) => [0, 32].map((more) => make(sized(missing + more)).code);
    const kept = ['up-to-date', 'too-large'];
    expect(codes((each) => decided(each, { operation: 'UPDATE', old: each }))).toEqual(kept);
    expect(codes((each) => decided(uninstrument(each), { operation: 'CREATE', by: 'webhook' }))).toEqual([
      'injected',
      'too-large',
    ]);
  });

  it('counts 2 per field, 1 per item, 1 per 32 characters and 25 per container', () => {
    const grownBy = (more: object, ...others: readonly object[]) =>
      getSize(deployment({ containers: [app(more), ...others] })) - getSize(deployment({ containers: [app({})] }));
    expect(grownBy({ env: [{ name: 'x' }] })).toBe(2 + 1 + 2);
    expect(grownBy({ args: ['x'.repeat(70)] })).toBe(2 + 1 + 2);
    expect(grownBy({}, { name: 'x' })).toBe(25 + 1 + 2);
    expect(grownBy({ ['x'.repeat(70)]: null })).toBe(2 + 2);
    expect(getSize({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} })).toBe(0);
  });

  it('counts a large old object as well', () => {
    const small = { containers: [app({})] };
    const large = { containers: [app({ env: names(25_000) })] };
    expect(judge(deployment(small), 'UPDATE', { old: deployment(large) })).toMatchObject({ code: 'too-large' });
  });

  it('stays within the bound for the removal of an injection', () => {
    for (let count = 1; count < 200; count += 13) {
      const decision = judge(deployment({ containers: range(count, (i) => app({ name: `c${i}` })) }), 'CREATE');
      if (decision.kind !== 'inject') expect(decision.code).toBe('too-large');
      else expect(getSize(decision.workload)).toBeLessThanOrEqual(10_000);
    }
  });
});
