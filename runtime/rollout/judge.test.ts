import { describe, expect, it } from '@jest/globals';
import type { Completion } from './completion.ts';
import { judge, judgeFirst, type OnProbation } from './judge.ts';
import type { WorkloadState } from './workload-state.ts';

const settings = { soakMs: 10_000, deadlineMs: 300_000, lookMs: 20_000 };
const reading = { template: 'one', isCurrent: true, risk: { rank: 0, pods: 2 }, injector: 'unknown' } as const;

/** The seconds since the injection, the available pods and the wanted ones. */
type Step = `${number} s: ${number} of ${number}`;

/** `delay`: in seconds, by the settings of the workload. */
function follow(steps: readonly Step[], delay?: number): WorkloadState {
  const toCompletion = (available: number, wanted: number): Completion => ({
    ...{ kind: 'progressing', available, wanted, isReplacing: true },
    ...(delay === undefined ? {} : { delayMs: 1_000 * delay }),
  });
  let state = judgeFirst({ ...reading, completion: toCompletion(0, 2), attempt: 0 }, 0, settings);
  for (const step of steps) {
    const [seconds = 0, available = 0, wanted = 0] = [...step.matchAll(/\d+/g)].map(Number);
    const seen = {
      kind: 'status',
      unchangedSince: 0,
      ...reading,
      completion: toCompletion(available, wanted),
    } as const;
    ({ state } = judge(state as OnProbation, seen, 1_000 * seconds, settings));
  }
  return state;
}

const rows: readonly [title: string, steps: readonly Step[], kind: WorkloadState['kind'], delay?: number][] = [
  [
    'continues if a scale-down takes available pods, and further ones follow',
    ['60 s: 100 of 200', '300 s: 65 of 130', '500 s: 79 of 130', '700 s: 92 of 130', '999 s: 93 of 130'],
    'rolling',
  ],
  ['continues if a scale-up adds missing pods', ['60 s: 4 of 10', '300 s: 5 of 20', '500 s: 6 of 20'], 'rolling'],
  [
    'stands still after a scale-down without further pods',
    ['60 s: 100 of 200', '300 s: 65 of 130', '600 s: 65 of 130'],
    'reverting',
  ],
  [
    'stands still if another scale-up and scale-down leave as many missing pods',
    ['60 s: 4 of 10', '200 s: 4 of 9', '300 s: 4 of 10', '500 s: 4 of 9'],
    'reverting',
  ],
  ['waits longer for pods that are slow by its own settings', ['899 s: 0 of 2'], 'rolling', 600],
  ['but not without end', ['900 s: 0 of 2'], 'reverting', 600],
];

describe('a rollout', () => {
  it.each(rows)('%s', (_title, steps, kind, delay) => expect(follow(steps, delay).kind).toBe(kind));

  it('names the time that it had', () => {
    const message = expect.stringContaining('within 900 seconds');
    const state = follow(['900 s: 1 of 2', '1800 s: 1 of 2'], 600);
    expect(state).toMatchObject({ evidence: { cause: 'NotReady', message } });
  });
});
