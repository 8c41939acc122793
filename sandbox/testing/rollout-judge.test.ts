import { expect, it } from '@jest/globals';
import type { Workload } from '../../runtime/injection/types.ts';
import { RolloutJudge, type Known, type Seen } from './rollout-judge.ts';
import { tracing } from './injection.ts';

const START = Date.parse('2026-11-22T12:00:00Z');
const after = (seconds: number): number => START + seconds * 1_000;
const iso = (seconds: number): string => new Date(after(seconds)).toISOString();

const injected = (name: string, seconds: number): Seen => ({
  ...{ name, workload: {} as Workload, note: undefined, template: '', isInjected: true },
  stamp: { change: 'added', at: iso(seconds), by: 'controller', tracing },
});

/** What is said of two that are injected after ten seconds, where one before them had run. */
function twoMore(pods: Known['pods']): readonly string[] {
  const known = { templates: [], releasedAt: START, blockedSince: undefined };
  const judge = new RolloutJudge(
    new Map(['a', 'b', 'c'].map((name) => [name, { ...known, pods: name === 'a' ? pods : undefined }])),
  );
  judge.proven.add('a');
  judge.observe([injected('a', 0)]);
  judge.observe([injected('a', 0), injected('b', 10), injected('c', 10)]);
  return judge.violations;
}

it.each<[string, Known['pods']]>([
  ['while it runs', { of: iso(0), ready: true }],
  ['when it has failed in this moment, which nobody could know', { of: iso(0), ready: false, readyUntil: after(9) }],
])('two follow upon one that has run, %s', (_title, pods) => {
  expect(twoMore(pods)).toEqual([]);
});

it.each<[string, Known['pods']]>([
  ['it failed a while ago', { of: iso(0), ready: false, readyUntil: after(7) }],
  ['its pods never ran', { of: iso(0), ready: false }],
  ['it was others that ran', { of: iso(-60), ready: true }],
])('they must not where %s', (_title, pods) => {
  expect(twoMore(pods)).toContainEqual(expect.stringContaining('a,b,c together, after 1 proven'));
});
