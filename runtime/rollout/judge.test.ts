import { describe, expect, it } from '@jest/globals';
import type { Completion } from './completion.ts';
import { judge, judgeFirst, type OnProbation } from './judge.ts';
import type { WorkloadState } from './workload-state.ts';

const settings = { soakMs: 10_000, deadlineMs: 300_000, lookMs: 20_000 };
const reading = { template: 'one', isCurrent: true, risk: { rank: 0, pods: 2 }, injector: 'unknown' } as const;

/** The seconds since the injection, the available pods and the wanted ones. `delay`: by the settings of the workload. */
type Step = `${number} s: ${number} of ${number}` | `${number} s: ${number} of ${number}, delay ${number} s`;

function follow(steps: readonly Step[]): WorkloadState {
  let state = judgeFirst({ ...reading, completion: toCompletion('0 s: 0 of 2'), attempt: 0 }, 0, settings);
  for (const step of steps) {
    const seen = { kind: 'status', unchangedSince: 0, ...reading, completion: toCompletion(step) } as const;
    ({ state } = judge(state as OnProbation, seen, 1_000 * (numbers(step)[0] ?? 0), settings));
  }
  return state;
}

const numbers = (step: Step) => [...step.matchAll(/\d+/g)].map(Number);

function toCompletion(step: Step): Completion {
  const [, available = 0, wanted = 0, delay] = numbers(step);
  const delayed = delay === undefined ? {} : { delayMs: 1_000 * delay };
  return { kind: 'progressing', available, wanted, isReplacing: true, ...delayed };
}

const rows: readonly [title: string, steps: readonly Step[], kind: WorkloadState['kind']][] = [
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
  ['waits longer for pods that are slow by its own settings', ['899 s: 0 of 2, delay 600 s'], 'rolling'],
  ['but not without end', ['900 s: 0 of 2, delay 600 s'], 'reverting'],
];

describe('a rollout', () => {
  it.each(rows)('%s', (_title, steps, kind) => expect(follow(steps).kind).toBe(kind));

  it('names the time that it had', () => {
    const message = expect.stringContaining('within 900 seconds');
    const state = follow(['900 s: 1 of 2, delay 600 s', '1800 s: 1 of 2, delay 600 s']);
    expect(state).toMatchObject({ evidence: { cause: 'NotReady', message } });
  });
});
