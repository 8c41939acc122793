import { describe, expect, it } from '@jest/globals';
import { active, injector, made } from '../../sandbox/testing/injection.ts';
import { instrumentedByOriginal } from '../../sandbox/original/injected.ts';
import { workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { statusOfNamespace } from './rollout-status.ts';

const condition = (type: string) => ({
  type,
  status: 'True' as const,
  reason: 'r',
  message: 'm',
  lastTransitionTime: 't',
});

const reported = (generation: number, observedGeneration?: number, ...types: readonly string[]) =>
  statusOfNamespace({
    namespace: 'shop',
    policy: { kind: 'none' },
    lumigo: {
      metadata: { name: 'lumigo', namespace: 'shop', uid: 'u', generation },
      status: { observedGeneration, conditions: types.map(condition) },
    } as unknown as LumigoResource,
    injector: { image: 'i', platform: 'kubernetes' } as never,
    config: { rolloutStrategy: 'progressive' },
    workloads: [],
  }).isComplete;

describe('the status of a namespace', () => {
  it('is complete without a Lumigo resource', () => {
    const config = { rolloutStrategy: 'progressive' } as const;
    const nothing = { namespace: 'shop', policy: { kind: 'none' }, lumigo: undefined, workloads: [], config } as const;
    expect(statusOfNamespace({ ...nothing, injector: {} as never }).isComplete).toBe(true);
  });

  it('is complete, and shows a workload as instrumented, under the original operator', () => {
    const metadata = { name: 'lumigo', namespace: 'shop', uid: 'u', generation: 1 };
    const lumigo = { metadata, status: { conditions: [condition('Active')] } } as unknown as LumigoResource;
    const workloads = [{ kind: workloadKinds.deployment, workload: instrumentedByOriginal(made()) }];
    const config = { rolloutStrategy: 'progressive' } as const;
    const found = statusOfNamespace({ namespace: 'shop', policy: active, lumigo, workloads, injector, config });
    expect(found.workloads).toMatchObject([{ state: 'instrumented', details: 'by the original operator' }]);
    expect(found.isComplete).toBe(true);
  });

  it.each([
    ['is not complete with a new resource', 1, undefined, [], false],
    ['is not complete with an earlier generation', 2, 1, ['Ready'], false],
    ['is not complete while the resource is reconciled', 1, 1, ['Reconciling'], false],
    ['is complete with a reconciled resource', 1, 1, ['Ready'], true],
  ] as const)('%s', (_name, generation, observed, types, expected) => {
    expect(reported(generation, observed, ...types)).toBe(expected);
  });
});
