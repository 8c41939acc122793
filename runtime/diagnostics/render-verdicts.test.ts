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

const changed = (tried: 'add' | 'update' | 'nothing', message: string) => {
  const { decision } = verdict('', 0);
  return { decision: { ...decision, tried, message } as Verdict['decision'] };
};

it('shows no part of a token, wherever it is in a long value', async () => {
  for (let before = 100; before < 160; before += 1) {
    const value = `${'x'.repeat(before)}t_${'7'.repeat(21)}`;
    const patch = [{ op: 'add', path: '/x', value }] as const;
    const previews = [toPreview('shop', '', [verdict('cart', 2, { patch })], pace)];
    expect(await formatted('table', previews, renderPreview)).not.toContain('7');
  }
});

it('shows what changes in each workload, and what the API server says about it', () => {
  const add = { op: 'add', path: '/x', value: 1 } as const;
  const left = (tried: 'add' | 'nothing', message: string) =>
    ({ decision: { kind: 'none', tried, code: 'too-large', message }, patch: [] }) as const;
  const replace = { op: 'replace', path: '/y', value: 'z'.repeat(200) } as const;
  const seen = [
    verdict('cart', 0, {
      ...changed('add', 'Injected'),
      patch: [add, { op: 'remove', path: '/y' }],
      warnings: ['slow'],
    }),
    verdict('pay', 0, { ...changed('update', 'Renewed'), patch: [replace], untried: true }),
    verdict('label', 0, { ...changed('nothing', 'Corrected'), patch: [{ ...add, value: 'y'.repeat(137) }] }),
    verdict('denied', 0, { ...changed('add', 'Injected'), patch: [add], refusal: 'a quota' }),
    verdict('large', 0, left('add', 'Too large')),
    verdict('done', 0, left('nothing', 'Up to date')),
  ];
  const previews = [toPreview('shop', 'active', seen, pace), toPreview('bank', 'none', [], pace)];
  expect(renderPreview(previews).split('\n')).toEqual([
    'Namespace shop: active',
    '  Deployment/cart    instrument  Injected',
    '    + /x 1',
    '    - /y',
    '    = the API server accepts it',
    '    ! slow',
    '  Deployment/pay     update      Renewed',
    `    ~ /y "${'z'.repeat(138)}…`,
    '    = your account may not try the change',
    '  Deployment/label   relabel     Corrected',
    `    + /x "${'y'.repeat(137)}"`,
    '    = the API server accepts it',
    '  Deployment/denied  REFUSED     Injected',
    '    + /x 1',
    '    = the API server refuses it: a quota',
    '  Deployment/large   CANNOT      Too large',
    '  Deployment/done    untouched   Up to date',
    '',
    'Namespace bank: none',
    '  (no workloads)',
    '',
  ]);
});

describe('the rollout that `lumigo preview` shows', () => {
  it('shows which workloads are first, which are later, and how long the rollout takes', () => {
    const paused = verdict('paused', 2, { blocked: 'Paused' });
    const seen = [
      verdict('big', 9),
      verdict('idle', 0),
      paused,
      verdict('small', 2, changed('update', '')),
      verdict('one', 1),
    ];
    expect(renderRollout(seen, pace)).toEqual([
      '  Rollout, about 40 s if pods start within 10 s:',
      '    1. Deployment/small',
      '    2. Deployment/big, Deployment/one',
      '    later: Deployment/paused is paused',
    ]);
    const nine = Array.from({ length: 9 }, (_, index) => verdict(`w${index}`, 2));
    const names = [3, 4, 5, 6, 7].map((index) => `Deployment/w${index}`);
    expect(renderRollout(nine, pace).at(-1)).toBe(`    3. ${names.join(', ')}, and 1 more`);
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
