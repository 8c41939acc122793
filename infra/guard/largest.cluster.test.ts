import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { workloadKinds } from '../../runtime/contract.ts';
import { decide } from '../../runtime/injection/decide.ts';
import { uninstrument } from '../../runtime/injection/remove.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { startGuarded, write, type GuardedCluster } from '../../sandbox/testing/guard/guarded-cluster.ts';
import { tracing, activePolicy } from '../../sandbox/testing/injection.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';

/** The API server limits the cost of a policy, so the largest object must stay below the limit. */

const { deployment } = workloadKinds;
let guarded: GuardedCluster;
beforeAll(async () => {
  guarded = await startGuarded();
});
afterAll(() => guarded?.stop());

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const own = [
  { name: 'LD_PRELOAD', value: '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2' },
  { name: 'LUMIGO_ENDPOINT', value: 'https://own.example.com/v1/traces' },
  { name: 'LUMIGO_TRACER_TOKEN', valueFrom: { secretKeyRef: { name: 'own', key: 'token' } } },
];
const mount = { name: 'own', mountPath: '/opt/lumigo' };
const volumes = [{ name: 'own', emptyDir: {} }];
const app = (index: number, more: object = {}) => ({ name: `app-${index}`, image: 'app:1', ...more });
const variables = (count: number, value = 'x') => many(count, (index) => ({ name: `VARIABLE_${index}`, value }));

const pods: readonly (readonly [string, object])[] = [
  ['thousands of variables', { containers: [app(0, { env: [...own, ...variables(1_900)] })] }],
  ['long variables', { containers: [app(0, { env: [...own, ...variables(100, 'x'.repeat(2_400))] })] }],
  [
    'long values that the injection replaces',
    { containers: [app(0, { env: [{ name: 'LUMIGO_ENDPOINT', value: 'x"'.repeat(15_000) }] })] },
  ],
  ['long libraries', { containers: [app(0, { env: [{ name: 'LD_PRELOAD', value: '/x.so:'.repeat(10_000) }] })] }],
  ['dozens of containers', { containers: many(90, (index) => app(index)) }],
  [
    'dozens of containers with values that the injection replaces',
    { volumes, containers: many(50, (index) => app(index, { env: own, volumeMounts: [mount] })) },
  ],
  [
    'dozens of init containers',
    { initContainers: many(150, (index) => app(index)), containers: [{ name: 'app', image: 'app:1' }] },
  ],
  [
    'hundreds of volumes',
    { volumes: many(900, (index) => ({ name: `v${index}`, emptyDir: {} })), containers: [app(0)] },
  ],
  [
    'hundreds of mounts',
    {
      volumes,
      containers: [app(0, { volumeMounts: many(900, (index) => ({ name: 'own', mountPath: `/m/${index}` })) })],
    },
  ],
];

describe('the guard allows an injection, a change of it and its removal', () => {
  it.each(pods)('with %s', async (_what, pod) => {
    const { testCluster, manager, injector } = guarded;
    const namespace = await testCluster.namespace('largest');
    const decided = (workload: Workload, traces: boolean) => {
      const policy = activePolicy({ ...tracing, traces });
      const context = { operation: 'RECONCILE', by: 'controller', now: new Date().toISOString() } as const;
      const decision = decide({ ...context, workload, policy, injector });
      if (decision.kind !== 'inject') throw new Error(decision.message);
      return decision.workload;
    };
    const object = await testCluster.create(createWorkload(deployment, namespace, 'app', { pod }));
    const before = { ...object, apiVersion: deployment.apiVersion, kind: deployment.kind } as Workload;
    const injected = await write(manager, before, decided(before, true));
    const changed = await write(manager, injected, decided(injected, false));
    const removed = await write(manager, changed, uninstrument(changed));
    expect(removed['spec']).toEqual(before['spec']);
  });
});
