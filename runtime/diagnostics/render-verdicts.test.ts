import { describe, expect, it } from '@jest/globals';
import { formatted } from '../cli/output.ts';
import { workloadKinds } from '../contract.ts';
import { toPreview, renderPreview, renderRollout } from './render-verdicts.ts';
import type { Verdict } from './verdict.ts';

const { deployment } = workloadKinds;
const pace = { rolloutStrategy: 'progressive', rolloutSoakSeconds: 10, rolloutLargestBatch: 50 } as const;
const verdict = (name: string, pods: number, more: Partial<Verdict> = {}): Verdict => ({
  kind: deployment,
  name,
  refusal: undefined,
  warnings: [],
  risk: { rank: pods === 0 ? 4 : pods < 2 ? 3 : 0, pods },
  blocked: undefined,
  decision: {
    kind: 'inject',
    tried: 'add',
    workload: { apiVersion: '', kind: '', metadata: {} },
    code: 'injected',
    message: '',
    skipped: [],
  },
  patch: [{ op: 'remove', path: '/' }],
  ...more,
});

it('shows no part of a token, wherever it is in a long value', async () => {
  for (let before = 100; before < 160; before += 1) {
    const value = `${'x'.repeat(before)}t_${'7'.repeat(21)}`;
    const patch = [{ op: 'add', path: '/x', value }] as const;
    const previews = [toPreview('shop', '', [verdict('cart', 2, { patch })], pace)];
    expect(await formatted('table', previews, renderPreview)).not.toContain('7');
  }
});

describe('the rollout that `lumigo preview` shows', () => {
  it('shows which workloads are first, which are later, and how long the rollout takes', () => {
    const paused = verdict('paused', 2, { blocked: 'Paused' });
    const seen = [verdict('big', 9), verdict('idle', 0), paused, verdict('small', 2), verdict('one', 1)];
    expect(renderRollout(seen, pace)).toEqual([
      '  Rollout, about 40 s if pods start within 10 s:',
      '    1. Deployment/small',
      '    2. Deployment/big, Deployment/one',
      '    later: Deployment/paused is paused',
    ]);
  });

  it('shows what the workloads wait for if none restarts now', () => {
    const changed = verdict('cart', 2, { blocked: 'WaitsForChange' });
    const text = 'is injected when its pod template changes (setting rollout.strategy)';
    const lines = ['  Rollout:', `    later: Deployment/cart ${text}`];
    expect(renderRollout([changed], { ...pace, rolloutStrategy: 'on-next-change' })).toEqual(lines);
  });

  it('shows nothing if no pod restarts, and the number if all restart at once', () => {
    expect(renderRollout([verdict('idle', 0)], pace)).toEqual([]);
    expect(renderRollout([verdict('a', 2)], { ...pace, rolloutStrategy: 'immediate' })).toEqual([
      '  Rollout (immediate): 1 whose pods restart',
    ]);
  });
});
