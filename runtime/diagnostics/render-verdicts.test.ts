import { expect, it } from '@jest/globals';
import { workloads } from '../contract.ts';
import { shapeOf } from '../rollout/shape.ts';
import { renderVerdicts } from './render-verdicts.ts';
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
