import { expect, it } from '@jest/globals';
import type { Revert } from '../../runtime/injection/revert.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { HandledPod } from './kubelet-by-hand.ts';
import type { Outcome } from './pod-outcomes.ts';
import { RolloutJudge, type Known, type Seen } from './rollout-judge.ts';

const settings = { lookMs: 2_000, deadlineMs: 10_000, soakMs: 1_000 };
const known: Known = {
  ...{ templates: ['clean'], written: new Set<string>(), releasedAt: 0, blockedSince: undefined, hasReplicas: true },
};
const getRevert = (cause: string): Revert => ({ at: '', cause, attempt: 1, key: '', evidence: '' });

type Shown = 'clean' | 'injected' | Revert;

const seen = (name: string, shown: Shown): Seen => ({
  ...{ name, workload: {} as Workload, isInjected: shown === 'injected' },
  template: shown === 'injected' ? 'injected' : 'clean',
  ...(typeof shown === 'string' ? { text: shown, revert: undefined } : { text: 'reverted', revert: shown }),
});

const getPod = (app: string, said: Outcome): HandledPod => ({
  ...{ name: app, uid: app, app, injector: 'injector:1', image: 'app:1', hash: '1', ordered: said },
});

type Scene = Readonly<Record<string, readonly [Shown, Outcome?]>>;

function judged(scenes: readonly Scene[], more: Readonly<Record<string, Partial<Known>>> = {}): readonly string[] {
  const all = new Map(['a', 'b', 'c', 'd', 'r'].map((name) => [name, { ...known, ...more[name] }] as const));
  const judge = new RolloutJudge(all, settings);
  for (const [second, scene] of scenes.entries()) {
    const shown = Object.entries(scene).map(([name, [each]]) => seen(name, each));
    const pods = Object.entries(scene).flatMap(([name, [, said]]) => (said === undefined ? [] : [getPod(name, said)]));
    judge.observe(shown, pods, (second + 1) * 1_000);
  }
  return judge.violations;
}

const crash = getRevert('Crash');
const noImage = getRevert('InjectorImage');
const failing: Scene = { a: ['injected', 'crashes'] };
const running: Scene = { a: ['injected', 'ready'] };

it.each<[string, Readonly<Record<string, Partial<Known>>>, readonly Scene[]]>([
  ['a revert follows the end of the failure', {}, [failing, failing, failing, running, { a: [crash] }]],
  [
    'another try follows a request that came between the looks around the revert',
    { a: { releasedAt: 4_500 } },
    [running, failing, failing, failing, { a: [crash] }, { a: ['injected'] }],
  ],
  [
    'a workload that fails for two looks is reverted',
    {},
    [{ a: ['clean'] }, failing, failing, failing, { a: [crash] }],
  ],
  [
    'two workloads follow one that has run',
    {},
    [
      { a: ['injected', 'ready'], b: ['clean'], c: ['clean'] },
      { a: ['injected', 'ready'], b: ['clean'], c: ['clean'] },
      { a: ['injected', 'ready'], b: ['injected'], c: ['injected'] },
    ],
  ],
  [
    'a workload is tried again on request during a halt, and then another one whose injector failed',
    { r: { releasedAt: 2_000 } },
    [
      { r: [noImage], b: [noImage] },
      ...Array.from({ length: 6 }, (): Scene => ({ r: ['clean'], b: [noImage] })),
      ...Array.from({ length: 3 }, (): Scene => ({ r: ['injected', 'ready'], b: [noImage] })),
      { r: ['injected', 'ready'], b: ['injected'] },
    ],
  ],
])('accepts that %s', (_title, more, scenes) => {
  expect(judged(scenes, more)).toEqual([]);
});

const halted: Scene = { a: [getRevert('InjectorImage')], b: ['clean'] };

it.each<[string, Readonly<Record<string, Partial<Known>>>, readonly Scene[], string]>([
  [
    'a revert of a workload that runs',
    {},
    [{ a: ['injected', 'ready'] }, { a: [crash] }],
    'a was reverted (Crash), and was well',
  ],
  [
    'a revert long after the end of the failure',
    {},
    [failing, failing, failing, ...Array.from({ length: 6 }, () => running), { a: [crash] }],
    'a was reverted (Crash), and was well',
  ],
  ['a revert after a short failure', {}, [failing, running, { a: [crash] }], 'after it had failed for 1000 ms'],
  ['a revert after one look', {}, [failing, { a: [crash] }], 'after it had failed for 1000 ms'],
  [
    'a second injection of a reverted workload',
    {},
    [{ a: [crash] }, { a: ['injected'] }],
    'a was reverted, and is injected again',
  ],
  [
    'two injections at once',
    {},
    [{ a: ['clean'] }, { a: ['injected'], b: ['injected'] }],
    'a,b together, after 0 proven',
  ],
  [
    'a second injection after another workload ran that was no retry',
    {},
    [
      ...Array.from({ length: 3 }, (): Scene => ({ a: ['injected', 'ready'], b: [noImage] })),
      { a: ['injected', 'ready'], b: ['injected'] },
    ],
    'b was reverted, and is injected again',
  ],
  [
    'an injection beside one whose injector failed',
    {},
    [...Array.from({ length: 6 }, () => halted), { ...halted, b: ['injected'] }],
    'b is injected where a were reverted',
  ],
  [
    'an injection of a paused workload',
    { a: { blockedSince: -10_000 } },
    [{ a: ['clean'] }, { a: ['injected'] }],
    'a is injected, and is paused or fails',
  ],
  [
    'a pod template that its user never wrote',
    { a: { templates: ['other'] } },
    [{ a: ['clean'] }],
    'a: clean was other',
  ],
])('reports %s', (_title, more, scenes, sentence) => {
  expect(judged(scenes, more)).toContainEqual(expect.stringContaining(sentence));
});
