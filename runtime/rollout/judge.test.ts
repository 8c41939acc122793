import { describe, expect, it } from '@jest/globals';
import type { Completion } from './completion.ts';
import { judge, judgeFirst, type OnProbation } from './judge.ts';
import type { WorkloadState } from './workload-state.ts';

const settings = { soakMs: 10_000, deadlineMs: 300_000, lookMs: 20_000 };
const reading = { template: 'one', isCurrent: true, risk: { rank: 0, pods: 2 }, injector: 'unknown' } as const;

/** `seconds`: since the injection. `delay`: in seconds, by the settings of the workload. */
type Step = readonly [seconds: number, available: number, wanted: number, delay?: number];

function follow(steps: readonly Step[]): WorkloadState {
  let state = judgeFirst({ ...reading, completion: toCompletion([0, 0, 2]), attempt: 0 }, 0, settings);
  for (const step of steps) {
    const seen = { kind: 'status', unchangedSince: 0, ...reading, completion: toCompletion(step) } as const;
    ({ state } = judge(state as OnProbation, seen, 1_000 * step[0], settings));
  }
  return state;
}

const toCompletion = ([, available, wanted, delay]: Step): Completion => ({
  ...{ kind: 'progressing', available, wanted, isReplacing: true },
  ...(delay === undefined ? {} : { delayMs: 1_000 * delay }),
});

const rows: readonly [title: string, steps: readonly Step[], kind: WorkloadState['kind']][] = [
  [
    'continues if a scale-down takes available pods, and further ones follow',
    [
      [60, 100, 200],
      [300, 65, 130],
      [500, 79, 130],
      [700, 92, 130],
      [999, 93, 130],
    ],
    'rolling',
  ],
  [
    'continues if a scale-up adds missing pods',
    [
      [60, 4, 10],
      [300, 5, 20],
      [500, 6, 20],
    ],
    'rolling',
  ],
  [
    'stands still after a scale-down without further pods',
    [
      [60, 100, 200],
      [300, 65, 130],
      [600, 65, 130],
    ],
    'reverting',
  ],
  [
    'stands still if another scale-up and scale-down leave as many missing pods',
    [
      [60, 4, 10],
      [200, 4, 9],
      [300, 4, 10],
      [500, 4, 9],
    ],
    'reverting',
  ],
  ['waits longer for pods that are slow by its own settings', [[899, 0, 2, 600]], 'rolling'],
  ['but not without end', [[900, 0, 2, 600]], 'reverting'],
];

describe('a rollout', () => {
  it.each(rows)('%s', (_title, steps, kind) => expect(follow(steps).kind).toBe(kind));

  it('names the time that it had', () =>
    expect(
      follow([
        [900, 1, 2, 600],
        [1_800, 1, 2, 600],
      ]),
    ).toMatchObject({
      evidence: { cause: 'NotReady', message: expect.stringContaining('within 900 seconds') },
    }));
});
