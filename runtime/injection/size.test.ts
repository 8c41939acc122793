import { describe, expect, it } from '@jest/globals';
import { active, decided, instrumented, made, older, tracing, withMetadata } from '../../sandbox/testing/injection.ts';
import { annotations, environment, labels } from '../contract.ts';
import type { DecisionInput } from './decide.ts';
import { workloadPatch } from './patch.ts';
import { LARGEST, getSize } from './size.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

const sidecars = Array.from({ length: 230 }, (_, index) => `sidecar-${index}`);
const injector = { ...older, imagePullSecrets: ['a', 'b'], sidecars };

type Operation = DecisionInput['operation'];
const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'RECONCILE'];
const judge = (workload: Workload, operation: Operation, old?: Workload) =>
  decided(workload, { operation, injector, ...(old && { old }) });

const range = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const names = (count: number) => range(count, (index) => ({ name: `e${index}` }));

/** A namespace editor can write such a record: one of a later release, which wrote every present variable. */
const forged = (count: number): string =>
  JSON.stringify({
    ...{ endpoint: 'http://proxy', ...tracing, format: 99, pullSecrets: ['a'], skipped: ['other'] },
    ...{ variables: names(count).map(({ name }) => name), kept: { app: { env: names(count) } } },
  });

function deployment(pod: object, optOut = false, record?: string): Workload {
  const workload = made({ labels: optOut ? { [labels.autoTrace]: 'false' } : {}, pod });
  const template = toTemplate(workload) as PodTemplate;
  if (record === undefined) return workload;
  return withTemplate(workload, { ...template, metadata: { annotations: { [annotations.injection]: record } } });
}

const app = (fields: object) => ({ name: 'app', image: 'app:1', ...fields });

const shapes: Readonly<Record<string, (count: number) => object>> = {
  env: (count) => ({ containers: [app({ env: names(count) })] }),
  'env of one name': (count) => ({ containers: [app({ env: range(count, () => ({ name: environment.preload })) })] }),
  containers: (count) => ({ containers: range(count, (index) => ({ name: `c${index}` })) }),
  'init containers': (count) => ({ containers: [app({})], initContainers: names(count) }),
  volumes: (count) => ({
    containers: [app({ volumeMounts: range(count, (i) => ({ name: `e${i}`, mountPath: '/opt' })) })],
    volumes: range(count, (i) => ({ name: `e${i}`, emptyDir: {} })),
  }),
  'pull secrets': (count) => ({ containers: [app({})], imagePullSecrets: names(count) }),
};

function looks(shape: string, count: number, operation: Operation, optOut: boolean): number {
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
  const make = () => deployment(shapes[shape]?.(count) ?? {}, optOut, forged(count));
  const workload = watched(make());
  const decision = judge(workload, operation, operation === 'UPDATE' ? watched(make()) : undefined);
  expect(decision.code).not.toBe('too-large');
  if (decision.kind !== 'none') workloadPatch(workload, decision.workload);
  return counted;
}

/** Returns the shortest time of each, which take turns, because the compiler and other programs run as well. */
const shortest = (acts: readonly (() => unknown)[]): number[] => {
  const rounds = range(9, () =>
    acts.map((act) => {
      const start = performance.now();
      act();
      return performance.now() - start;
    }),
  );
  return acts.map((_act, index) => Math.min(...rounds.map((times) => times[index] ?? Infinity)));
};

const withTerms = (labels: number, terms: number) => {
  const required = { nodeSelectorTerms: range(terms, () => ({})) };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  return made({ pod: { nodeSelector: Object.fromEntries(range(labels, (index) => [`n${index}`, ''])), affinity } });
};

const annotated = (value: string, pod: object) => {
  const workload = made({ pod });
  return withMetadata(workload, { annotations: { [annotations.injectContainers]: value } });
};

const listed = (count: number) => `app,${'x,'.repeat(count)}`;

/** An injection whose record has more names. */
function recorded(pod: object, names: object): Workload {
  const workload = instrumented(made({ pod }), { injector });
  const template = toTemplate(workload) as PodTemplate;
  const own = template.metadata?.annotations ?? {};
  const record = JSON.stringify({ ...(JSON.parse(own[annotations.injection] ?? '') as object), ...names });
  const changed = { ...own, [annotations.injection]: record };
  return withTemplate(workload, { ...template, metadata: { ...template.metadata, annotations: changed } });
}

type MakePair = (first: number, second: number) => Workload;

/** Objects with two lists, whose lengths are the longest that pass the limit of the size, if there is one. */
const pairs: readonly (readonly [string, readonly [number, number], MakePair, string])[] = [
  ['selected labels of nodes and of terms', [4_000, 4_000], withTerms, 'no-lumigo'],
  [
    'init containers and of included names',
    [1_600, 75_000],
    (first, second) => annotated(listed(second), { containers: [app({})], initContainers: names(first) }),
    'injected',
  ],
  [
    'init containers and of recorded ones',
    [1_600, 15_000],
    (first, second) =>
      recorded({ containers: [app({})], initContainers: names(first) }, { initContainers: range(second, () => 'x') }),
    'up-to-date',
  ],
  [
    'sidecars and of recorded ones',
    [230, 14_000],
    (first, second) => {
      const known = sidecars.slice(0, first);
      const containers = [app({}), ...known.map((name) => ({ name }))];
      return recorded({ containers }, { skipped: [...range(second, () => 'x'), ...known] });
    },
    'up-to-date',
  ],
];

describe('the cost of a decision [F20]', () => {
  const cases = Object.keys(shapes).flatMap((shape) => operations.map((operation) => [shape, operation] as const));

  it.each(cases)('is linear in the number of %s, on %s', (shape, operation) => {
    for (const optOut of [false, true])
      expect(looks(shape, 80, operation, optOut)).toBeLessThanOrEqual(2.05 * looks(shape, 40, operation, optOut));
  });

  it.each(pairs)('is linear in the number of %s together', (_what, [first, second], make, code) => {
    const policy = code === 'no-lumigo' ? ({ kind: 'none' } as const) : active;
    const act = (one: number, two: number) => {
      const workload = make(one, two);
      return () => expect(decided(workload, { injector, policy }).code).toBe(code);
    };
    const [both = Infinity, one = 0, two = 0] = shortest([act(first, second), act(first, 1), act(1, second)]);
    expect(both).toBeLessThan(3 * (one + two));
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
  });

  it('counts a large old object as well', () => {
    const [small, large] = [{ containers: [app({})] }, { containers: [app({ env: names(25_000) })] }];
    expect(judge(deployment(small), 'UPDATE', deployment(large))).toMatchObject({ code: 'too-large' });
  });

  it('stays within the bound for the removal of an injection', () => {
    for (let count = 1; count < 200; count += 13) {
      const decision = judge(deployment({ containers: range(count, (i) => app({ name: `c${i}` })) }), 'CREATE');
      if (decision.kind !== 'inject') expect(decision.code).toBe('too-large');
      else expect(getSize(decision.workload)).toBeLessThanOrEqual(10_000);
    }
  });

  it('does not depend on depth', () => {
    let deep: object = {};
    for (let depth = 0; depth < 100_000; depth += 1) deep = { deep };
    expect(judge(deployment({ containers: [app(deep)] }), 'CREATE')).toMatchObject({ code: 'too-large' });
  });
});
