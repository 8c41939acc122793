import { describe, expect, it } from '@jest/globals';
import { workloads } from '../contract.ts';
import { shapeOf } from '../rollout/shape.ts';
import { renderRollout, renderVerdicts } from './render-verdicts.ts';
import type { Verdict } from './verdict.ts';

const [deployment] = workloads;

it('shows no part of a token, wherever in a long value it stands', () => {
  const verdict = (before: number) =>
    ({
      ...{ kind: deployment, namespace: 'shop', name: 'cart', refusal: undefined, warnings: [] },
      shape: shapeOf({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} }),
      decision: { action: 'none', message: '' } as unknown as Verdict['decision'],
      patch: [{ op: 'add', path: '/x', value: `${'x'.repeat(before)}t_${'7'.repeat(21)}` }],
    }) satisfies Verdict;
  for (let before = 100; before < 160; before += 1)
    expect(renderVerdicts('shop', 'traced', [verdict(before)])).not.toContain('7');
});

const pace = { rolloutStrategy: 'progressive', rolloutSoakSeconds: 10, rolloutLargestWave: 50 } as const;
const shape = (running: number) => ({ desired: running, running, blocked: undefined, refused: undefined });
const verdict = (name: string, running: number, more: Partial<Verdict> = {}): Verdict => ({
  ...{ kind: deployment, namespace: 'shop', name, refusal: undefined, warnings: [], shape: shape(running) },
  decision: {
    ...{ action: 'inject', tried: 'add', workload: { apiVersion: '', kind: '', metadata: {} } },
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
      '  Rollout, about 40 s if pods start within 10 s:',
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
