import { describe, expect, it } from '@jest/globals';
import type { Completion } from './completion.ts';
import { judge, judgeEvidence, judgeFirst, type OnProbation } from './judge.ts';
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

/** Reads a CronJob whenever it is time after its status changed. Returns the seconds from the change to each look. */
function readAfter(changedAt: number, evidenceFrom = Infinity): { state: WorkloadState; looks: readonly number[] } {
  const completion = { kind: 'no-pods' } as const;
  const seen = { kind: 'status', unchangedSince: changedAt, ...reading, injector: 'verified', completion } as const;
  const begun = judgeFirst({ ...seen, attempt: 0 }, 0, settings) as OnProbation;
  let state: WorkloadState = { ...begun, wakeAt: changedAt + settings.soakMs };
  const looks = [];
  while ('progress' in state && state.wakeAt < 10 * settings.deadlineMs + changedAt) {
    const now = state.wakeAt;
    const evidence = now < evidenceFrom ? undefined : ({ cause: 'InjectorImage', message: '' } as const);
    const read = judge(state, seen, now, settings);
    expect(read.action).toBe('look-at-pods');
    looks.push((now - changedAt) / 1_000);
    ({ state } = judgeEvidence(read.state as OnProbation, { evidence, ran: false, isAny: true }, now, settings));
  }
  return { state, looks };
}

describe('a later run of a CronJob', () => {
  const start = 3_600_000;

  it('is looked at every 20 s while its pods show nothing, and not after the deadline', () => {
    const { state, looks } = readAfter(start);
    expect(looks).toEqual(Array.from({ length: 16 }, (_, index) => 10 + 20 * index));
    expect(state).toMatchObject({ kind: 'untested', wakeAt: Infinity });
  });

  it.each([15, 60, 280])('leads to a revert if its injector fails %d s after its start', (seconds) => {
    const { state } = readAfter(start, start + 1_000 * seconds);
    expect(state).toMatchObject({ kind: 'reverting', evidence: { cause: 'InjectorImage' } });
  });
});
