import { describe, expect, it } from '@jest/globals';
import { findHalt, healthFor, healthIn, healthOfCluster, noTally as calm } from './injector-health.ts';

const trying = { ...calm, trying: 1 };
const runsHere = { ...calm, verified: 3 };
const runs = { ...runsHere, proven: 1 };
const halted = { ...calm, reverted: 5, witnessed: 1 };
const forged = { ...calm, reverted: 5, injectorFailed: 5 };

describe('the health of an injector', () => {
  it.each([
    ['is untried where nothing runs or is about to', calm, 'untried'],
    ['is unknown while a workload is about to show it', trying, 'unknown'],
    ['is verified where a workload runs with it', runs, 'verified'],
    ['is verified also if that is gone since then', { ...calm, ran: 1 }, 'verified'],
    ['stays verified after one revert', { ...runs, reverted: 1 }, 'verified'],
    ['is failing after two reverts that stand', { ...runs, reverted: 2 }, 'failing'],
    ['is failing at once where the injector itself fails', { ...calm, reverted: 1, injectorFailed: 1 }, 'failing'],
    [
      'is verified if it fails in one workload and runs in others',
      { ...runs, reverted: 1, injectorFailed: 1 },
      'verified',
    ],
    ['is verified also if it ran there lately', { ...calm, ran: 1, reverted: 1, injectorFailed: 1 }, 'verified'],
    ['is failing if it fails in two workloads', { ...runs, reverted: 2, injectorFailed: 2 }, 'failing'],
  ] as const)('%s in a namespace', (_title, tally, expected) => expect(healthIn(tally)).toBe(expected));

  it.each([
    ['is untried without workloads', [], 'untried'],
    ['is unknown while a namespace is about to show it', [calm, trying], 'unknown'],
    ['is verified once it runs anywhere', [calm, calm, runs], 'verified'],
    ['but not if that shows something in its namespace only [F65]', [{ ...runsHere, ran: 1 }], 'untried'],
    ['is not failing for the failures of two tenants, however many [F65]', [halted, halted], 'untried'],
    ['is failing where several namespaces fail', [halted, halted, halted], 'failing'],
    ['is not failing for reverts that only annotations report [F65]', [forged, forged, forged, calm], 'untried'],
    [
      'is not failing while more namespaces run with it than fail [F65]',
      [halted, halted, halted, runs, runs, runs],
      'verified',
    ],
  ] as const)('%s in the cluster', (_title, tallies, expected) => expect(healthOfCluster(tallies)).toBe(expected));
});

describe('a namespace', () => {
  it.each([
    ['goes on after one revert', { ...calm, reverted: 1 }, 'unknown', undefined],
    ['halts after two', { ...calm, reverted: 2 }, 'verified', '2 workloads of the namespace were reverted'],
    [
      'halts after one where the injector itself fails',
      { ...calm, reverted: 1, injectorFailed: 1 },
      'unknown',
      expect.stringContaining('the injector itself'),
    ],
    ['goes on if it runs in others', { ...runs, reverted: 1, injectorFailed: 1 }, 'verified', undefined],
    ['halts with the cluster', calm, 'failing', 'workloads of several namespaces were reverted'],
  ] as const)('%s', (_title, own, cluster, expected) => expect(findHalt(own, cluster)).toEqual(expected));
});

it('a namespace that fails halts alone [F65]', () => {
  expect(healthFor(halted, 'verified')).toBe('failing');
  expect(healthFor(calm, 'verified')).toBe('verified');
  expect(['untried', 'failing'].map((cluster) => healthFor(runsHere, cluster as never))).toEqual([
    'verified',
    'failing',
  ]);
  expect(healthFor({ ...calm, untested: 1 }, 'untried')).toBe('tried');
  expect(healthFor(calm, 'untried')).toBe('untried');
});
