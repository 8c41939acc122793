import { describe, expect, it } from '@jest/globals';
import { withNote } from '../injection/rollout-note.ts';
import type { NamespacePolicy, Workload } from '../injection/types.ts';
import { rolloutOf } from './rollout-of.ts';
import type { Reverted, Rollout } from './rollout.ts';

const policy: NamespacePolicy = { state: 'none' };
const revertedAt = Date.parse('2026-11-22T12:00:00Z');
const note = { at: new Date(revertedAt).toISOString(), cause: 'Crash', evidence: '', template: '', injection: '' };

/** A DaemonSet of 50 nodes that was put back, so many of its pods replaced and so many ready. */
const agent = (updated: number, ready: number, observedGeneration = 5): Workload => ({
  ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: withNote({ name: 'agent', generation: 5 }, note), spec: {} },
  status: {
    ...{ observedGeneration, desiredNumberScheduled: 50, currentNumberScheduled: 50 },
    ...{ updatedNumberScheduled: updated, numberReady: ready },
  },
});

/** What is noted of it after it was read at these seconds. */
function readAt(...reads: readonly (readonly [seconds: number, workload: Workload])[]): Reverted {
  let rollout: Rollout | undefined;
  for (const [seconds, workload] of reads)
    rollout = rolloutOf({
      ...{ workload, policy, before: rollout },
      now: { ms: seconds * 1_000, epochMs: revertedAt + seconds * 1_000 },
    });
  if (rollout?.state !== 'reverted') throw new Error('it carries the note');
  return rollout;
}

describe('a reverted workload', () => {
  it('makes progress with each pod that is replaced or gets ready', () => {
    const first = readAt([0, agent(50, 49, 4)], [15, agent(1, 49)]);
    expect(first).toMatchObject({ isOpen: true, progress: { most: 50, at: 15_000 }, seenAt: 15_000 });
    expect(readAt([15, agent(1, 49)], [40, agent(27, 49)]).progress).toEqual({ most: 76, at: 40_000 });
  });

  it('makes none where a pod is ready and not by turns', () => {
    const flapping = readAt([15, agent(3, 48)], [30, agent(3, 47)], [60, agent(3, 48)], [90, agent(3, 48)]);
    expect(flapping).toMatchObject({ progress: { most: 51, at: 15_000 }, seenAt: 90_000 });
  });

  it('is settled half an hour later, whatever it does', () => {
    expect(readAt([0, agent(3, 48)], [1_801, agent(9, 48)]).isOpen).toBe(false);
  });
});
