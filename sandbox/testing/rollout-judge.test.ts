import { expect, it } from '@jest/globals';
import type { Revert } from '../../runtime/injection/revert.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { HandledPod } from './kubelet-by-hand.ts';
import type { Outcome } from './pod-outcomes.ts';
import { RolloutJudge, type Known, type Seen } from './rollout-judge.ts';

const settings = { lookMs: 2_000, deadlineMs: 10_000, soakMs: 1_000 };
const known: Known = {
  templates: ['clean'],
  written: new Set<string>(),
  releasedAt: 0,
  pausedSince: undefined,
  failsSince: undefined,
  hasReplicas: true,
};
const getRevert = (cause: string): Revert => ({ at: '', cause, attempt: 1, key: '', evidence: '' });

/** One look, with a workload as `name=state/outcome`. A reverted one has the cause of its revert as its state. */
type Look = string;

function judged(looks: readonly Look[], more: Readonly<Record<string, Partial<Known>>> = {}): readonly string[] {
  const all = new Map(['a', 'b', 'c', 'd', 'r'].map((name) => [name, { ...known, ...more[name] }] as const));
  const judge = new RolloutJudge(all, settings);
  for (const [second, look] of looks.entries()) {
    const shown = look.split(' ').map((each) => each.split(/[=/]/) as [string, string, Outcome?]);
    const pods = shown.flatMap(([name, , outcome]) => (outcome === undefined ? [] : [getPod(name, outcome)]));
    judge.observe(
      shown.map(([name, state]) => seen(name, state)),
      pods,
      (second + 1) * 1_000,
    );
  }
  return judge.violations;
}

const seen = (name: string, state: string): Seen => {
  const revert = ['clean', 'injected'].includes(state) ? undefined : getRevert(state);
  const isInjected = state === 'injected';
  const template = isInjected ? 'injected' : 'clean';
  return { name, workload: {} as Workload, isInjected, template, revert, text: revert ? 'reverted' : state };
};

const getPod = (app: string, ordered: Outcome): HandledPod => ({
  name: app,
  uid: app,
  app,
  injector: 'injector:1',
  hash: '1',
  ordered,
});

const times = (count: number, look: Look): readonly Look[] => Array.from({ length: count }, () => look);
const failing = 'a=injected/crashes';
const running = 'a=injected/ready';

// A test takes the rest of its row, because Jest passes a callback for a named parameter that a row lacks.
it.each<[string, readonly Look[], Readonly<Record<string, Partial<Known>>>?]>([
  ['a revert follows the end of the failure', [...times(3, failing), running, 'a=Crash']],
  [
    'another try follows a request that came between the looks around the revert',
    [running, ...times(3, failing), 'a=Crash', 'a=injected'],
    { a: { releasedAt: 4_500 } },
  ],
  ['a workload that fails for two looks is reverted', ['a=clean', ...times(3, failing), 'a=Crash']],
  [
    'two workloads follow one that has run',
    [...times(2, 'a=injected/ready b=clean c=clean'), 'a=injected/ready b=injected c=injected'],
  ],
  [
    'a workload follows one behind it that has run since the look before',
    ['b=injected/ready', 'a=injected b=injected/ready'],
  ],
  [
    'a workload follows one whose injector failed, if it has run in another one',
    [...times(6, 'a=injected/ready r=InjectorImage b=clean'), 'a=injected/ready r=InjectorImage b=injected'],
  ],
  [
    'a workload is tried again on request during a halt, and then another one whose injector failed',
    [
      'r=InjectorImage b=InjectorImage',
      ...times(6, 'r=clean b=InjectorImage'),
      ...times(3, 'r=injected/ready b=InjectorImage'),
      'r=injected/ready b=injected',
    ],
    { r: { releasedAt: 2_000 } },
  ],
])('accepts that %s', (_title, ...[looks, more]) => expect(judged(looks, more)).toEqual([]));

it.each<[string, readonly Look[], string, Readonly<Record<string, Partial<Known>>>?]>([
  ['a revert of a workload that runs', [running, 'a=Crash'], 'a was reverted (Crash), and was well'],
  [
    'a revert long after the end of the failure',
    [...times(3, failing), ...times(6, running), 'a=Crash'],
    'a was reverted (Crash), and was well',
  ],
  ['a revert after a short failure', [failing, running, 'a=Crash'], 'after it had failed for 1000 ms'],
  ['a revert after one look', [failing, 'a=Crash'], 'after it had failed for 1000 ms'],
  ['a second injection of a reverted workload', ['a=Crash', 'a=injected'], 'a was reverted, and is injected again'],
  ['two injections at once', ['a=clean', 'a=injected b=injected'], 'a,b together, after 0 proven'],
  [
    'a second injection after another workload ran that was no retry',
    [...times(3, 'a=injected/ready b=InjectorImage'), 'a=injected/ready b=injected'],
    'b was reverted, and is injected again',
  ],
  [
    'an injection beside one whose injector failed',
    [...times(6, 'a=InjectorImage b=clean'), 'a=InjectorImage b=injected'],
    'b is injected where a were reverted',
  ],
  [
    'an injection of a paused workload',
    ['a=clean', 'a=injected'],
    'a is injected, and is paused or fails',
    { a: { pausedSince: -10_000 } },
  ],
  [
    'an injection of a workload that fails by itself',
    ['a=clean', 'a=injected'],
    'a is injected, and is paused or fails',
    { a: { failsSince: -10_000 } },
  ],
  ['a pod template that its user never wrote', ['a=clean'], 'a: clean was other', { a: { templates: ['other'] } }],
])('reports %s', (_title, ...[looks, sentence, more]) => {
  expect(judged(looks, more)).toContainEqual(expect.stringContaining(sentence));
});
