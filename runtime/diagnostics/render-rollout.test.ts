import { describe, expect, it } from '@jest/globals';
import { workloads } from '../contract.ts';
import { renderRollout } from './render-rollout.ts';
import type { Verdict } from './verdict.ts';

const pace = { rolloutStrategy: 'progressive', rolloutSoakSeconds: 10, rolloutLargestWave: 50 } as const;
const shape = (running: number) => ({ desired: running, running, blocked: undefined, refused: undefined });
const verdict = (name: string, running: number, more: Partial<Verdict> = {}): Verdict => ({
  ...{ kind: workloads[0], namespace: 'shop', name, refusal: undefined, warnings: [], shape: shape(running) },
  decision: {
    ...{ action: 'inject', change: 'added', workload: { apiVersion: '', kind: '', metadata: {} } },
    ...{ code: 'injected', message: '', leftAlone: [] },
  },
  patch: [{ op: 'remove', path: '/' }],
  ...more,
});

describe('the rollout that --preview shows', () => {
  it('says who comes when, who later, and how long it takes', () => {
    const blocked = { reason: 'Paused', message: 'is paused' } as const;
    const paused = verdict('paused', 2, { shape: { ...shape(2), blocked } });
    const seen = [verdict('big', 9), verdict('idle', 0), paused, verdict('small', 2), verdict('one', 1)];
    expect(renderRollout(seen, pace)).toEqual([
      '  Rollout, some 40 s where pods start within 10 s:',
      '    1. Deployment/small',
      '    2. Deployment/big, Deployment/one',
      '    later: Deployment/paused is paused',
    ]);
  });

  it('says nothing where no pod restarts, and how many do where all go at once', () => {
    expect(renderRollout([verdict('idle', 0)], pace)).toEqual([]);
    expect(renderRollout([verdict('a', 2)], { ...pace, rolloutStrategy: 'immediate' })).toEqual([
      '  Rollout (immediate): 1 whose pods restart',
    ]);
  });
});
