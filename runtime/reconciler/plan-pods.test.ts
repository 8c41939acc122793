import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import { policyOf } from '../injection/policy.ts';
import type { LumigoResource, RolloutNote } from '../injection/types.ts';
import type { Evidence } from '../rollout/evidence.ts';
import type { PodTrial } from '../rollout/judge-pods.ts';
import type { ModePod } from '../rollout/mode-pod.ts';
import { podsCondition } from './conditions-rollout.ts';
import type { ObservedPods } from './observed.ts';
import { planPods } from './plan-pods.ts';
import type { ObservedNamespace } from './observed.ts';

const iso = '2026-11-22T12:00:00Z';
const now = { ms: 1_000_000, iso };
const epoch = Date.parse(iso);
const tracing = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false };

const lumigo = (more: object = {}, status: object = {}): LumigoResource => ({
  ...{ apiVersion: contract.apiVersion, kind: contract.kind },
  metadata: {
    ...{ namespace: 'shop', name: 'lumigo', uid: 'l', resourceVersion: '1', generation: 1 },
    ...{ creationTimestamp: '2026-11-22T11:00:00Z', finalizers: [contract.finalizer], ...more },
  },
  spec: {
    lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } },
    tracing: { injection: { mode: 'Pod' } },
  },
  status: {
    conditions: [{ type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' }],
    ...status,
  },
});

const pod = (name: string, more: Partial<ModePod> = {}): ModePod => ({
  ...{ namespace: 'shop', name, uid: name, createdAt: epoch - 7_200_000, injected: undefined, isInReach: true },
  owner: { kind: 'ReplicaSet', name: 'web', uid: 'web' },
  ...{ isGoing: false, readySince: epoch - 3_600_000, evidence: undefined },
  ...more,
});
const of = (kind: string, name = kind) => ({ owner: { kind, name, uid: name } });
const injected = { injected: tracing };

function plan(list: readonly ModePod[], more: Partial<ObservedPods> = {}, resource = lumigo()) {
  const pods: ObservedPods = {
    ...{ list, trial: undefined, restUntil: 0, resumedAt: 0, keptUntil: new Map(), hasTurn: true },
    ...{ strategy: 'progressive', injector: 'i', ...more },
  };
  const known = {
    resource,
    isBusy: false,
    failure: undefined,
    listed: [],
    dropsSecretVersion: false,
    statusAt: -Infinity,
  };
  const settings = { soakMs: 10_000, deadlineMs: 300_000, largestWave: 50, label: '' };
  const observed = {
    ...{ policy: policyOf([resource]), lumigoes: [known], acting: resource.metadata.uid, pods },
    rollout: { settings },
  };
  const planned = planPods(observed as unknown as ObservedNamespace, now);
  if (planned === undefined) throw new Error('no plan');
  return planned;
}
const evicted = (...input: Parameters<typeof plan>) => plan(...input).evict.map(({ name }) => name);

describe('of the pods that run in Pod mode', () => {
  const two = [pod('a'), pod('b')];
  it.each<[string, readonly ModePod[], readonly string[]]>([
    ['one goes where another serves', two, ['a']],
    ['none goes while another of its controller is not ready', [pod('a'), pod('b', { readySince: undefined })], []],
    ['none goes while another of its controller is going', [...two, pod('c', { isGoing: true })], []],
    ['none goes that is alone, unless its controller replaces pods so in any case', [pod('a')], []],
    ['a StatefulSet’s only one goes', [pod('a', of('StatefulSet'))], ['a']],
    ['a DaemonSet’s goes after those of ReplicaSets', [pod('d', of('DaemonSet')), ...two], ['a']],
    ['a Job’s stays', [pod('a', of('Job')), pod('b', of('Job'))], []],
    ['a node’s own stays', [pod('a', of('Node')), pod('b', of('Node'))], []],
    ['one of its own stays', [pod('a', { owner: undefined })], []],
    [
      'a controller’s that nobody knows stays',
      [pod('a', of('SparkApplication')), pod('b', of('SparkApplication'))],
      [],
    ],
    ['one that would come as it is stays', [pod('a', { isInReach: false }), pod('b', { isInReach: false })], []],
    ['an injected one stays', [pod('a', injected), pod('b', injected)], []],
    [
      'one whose injection says something else goes',
      [pod('a', { injected: { ...tracing, logs: true } }), pod('b', injected)],
      ['a'],
    ],
  ])('%s', (_title, list, expected) => expect(evicted(list)).toEqual(expected));

  it('none goes out of turn, before API servers know, or while a budget keeps it', () => {
    expect(evicted(two, { hasTurn: false })).toEqual([]);
    expect(plan(two, { hasTurn: false }).wantsTurn).toBe(true);
    expect(plan(two, { restUntil: now.ms + 5 })).toMatchObject({ evict: [], wakeAt: now.ms + 5 });
    const kept = plan(two, { keptUntil: new Map([['a', now.ms + 9]]) });
    expect(kept).toMatchObject({ evict: [], wakeAt: now.ms + 9, summary: { waiting: 2, kept: 2 } });
    expect(podsCondition(kept, false)?.reason).toBe('Blocked');
  });

  it('go as the strategy says', () => {
    const retry = lumigo({ annotations: { 'lumigo.retry': '1' } });
    expect(evicted(two, { strategy: 'immediate' })).toEqual(['a', 'b']);
    expect(evicted(two, { strategy: 'on-next-change' }, retry)).toEqual([]);
    expect(evicted(two, { strategy: 'manual' })).toEqual([]);
    expect(evicted(two, { strategy: 'manual' }, retry)).toEqual(['a']);
    expect(plan(two, { strategy: 'manual' }).summary).toMatchObject({ waiting: 0, left: 2 });
  });
});

describe('what replaces a pod', () => {
  const trial: PodTrial = {
    ...{ name: 'a', uid: 'a', owner: { kind: 'ReplicaSet', name: 'web', uid: 'web' } },
    ...{ before: new Set(['a', 'b']), at: epoch - 20_000, goneAt: undefined, wanted: undefined },
  };
  const young = { ...injected, createdAt: epoch - 19_000 };
  const after = (more: Partial<ModePod>, at = trial.at) =>
    plan([pod('b'), pod('c'), pod('new', more)], {
      trial: { ...trial, at, goneAt: at, before: new Set(['a', 'b', 'c']) },
    });

  it('is awaited until it has been ready for long enough; then the next goes', () => {
    expect(after({ ...young, readySince: undefined })).toMatchObject({ evict: [], summary: { underWay: 'a' } });
    expect(after({ ...young, readySince: epoch - 9_000 })).toMatchObject({ evict: [], wakeAt: now.ms + 2_000 });
    expect(after({ ...young, readySince: epoch - 11_000 })).toMatchObject({ evict: [{ name: 'b' }] });
  });

  const crash: Evidence = { cause: 'Crash', message: "container 'app': Error with exit code 3" };
  it.each<[string, Partial<ModePod>, number, string | undefined]>([
    ['a program ends', { ...young, readySince: undefined, evidence: crash }, trial.at, 'Crash'],
    ['it is not ready in time', { ...young, readySince: undefined }, epoch - 300_000, 'NotReady'],
    ['it runs', { ...young, readySince: epoch }, trial.at, undefined],
  ])('%s', (_title, more, at, cause) => expect(after(more, at).halted?.cause).toBe(cause));

  it('that comes without the injection ends it for a while, for the webhook is not reached', () => {
    const missed = after({ createdAt: epoch });
    expect(missed).toMatchObject({ evict: [], halted: undefined, summary: { isMissed: true } });
    expect(missed.restUntil).toBe(now.ms + 600_000);
    expect(podsCondition(missed, false)?.reason).toBe('NotInjected');
  });

  const late = { ...trial, before: new Set(['a', 'b', 'c']), at: epoch - 300_000, goneAt: epoch - 300_000 };
  it('may be nothing, where its controller was scaled down meanwhile: that is read before anything is concluded', () => {
    const two = [pod('b'), pod('c')];
    expect(plan(two, { trial: late })).toMatchObject({ asksOwner: true, evict: [], halted: undefined });
    expect(plan(two, { trial: { ...late, wanted: 2 } })).toMatchObject({ evict: [{ name: 'b' }], halted: undefined });
    expect(plan(two, { trial: { ...late, wanted: 3 } }).halted?.cause).toBe('NotReady');
  });

  it('comes only once it has gone where its controller has one name for both, and nobody is late before', () => {
    const stateful = { ...late, ...of('StatefulSet', 'web'), goneAt: undefined };
    const others = [pod('b', of('StatefulSet', 'web')), pod('c', of('StatefulSet', 'web'))];
    const going = pod('a', { ...of('StatefulSet', 'web'), isGoing: true });
    const waiting = plan([going, ...others], { trial: stateful });
    expect(waiting).toMatchObject({ evict: [], halted: undefined, trial: { goneAt: undefined } });
    expect(waiting.asksOwner).toBeUndefined();
    const gone = plan(others, { trial: stateful });
    expect(gone).toMatchObject({ halted: undefined, trial: { goneAt: epoch } });
    expect(gone.asksOwner).toBeUndefined();
    const wanted = { ...stateful, goneAt: epoch - 300_000, wanted: 3 };
    expect(plan(others, { trial: wanted }).halted?.cause).toBe('NotReady');
  });

  it('is awaited for half an hour at most where it never goes', () => {
    const stuck = { ...late, ...of('StatefulSet', 'web'), at: epoch - 1_801_000, goneAt: undefined };
    const planned = plan([pod('a', { ...of('StatefulSet', 'web'), isGoing: true })], { trial: stuck });
    expect(planned).toMatchObject({ evict: [], halted: undefined, trial: undefined });
  });
});

describe('a halt of Pod mode', () => {
  const image: Evidence = { cause: 'InjectorImage', message: "container 'lumigo-injector': ImagePullBackOff" };
  const crash: Evidence = { cause: 'Crash', message: 'x' };
  const young = { ...injected, createdAt: epoch - 1_000, readySince: undefined };

  it('comes of an injector that fails, and of a program that ends where one of the same controller runs without', () => {
    expect(plan([pod('a', { ...young, owner: undefined, evidence: image })]).halted?.cause).toBe('InjectorImage');
    expect(plan([pod('a', { ...young, evidence: crash }), pod('b')]).halted?.evidence).toBe("pod 'a', x");
    const other = pod('b', of('ReplicaSet', 'other'));
    expect(plan([pod('a', { ...young, evidence: crash }), other]).halted).toBeUndefined();
    expect(plan([pod('a', { ...young, createdAt: 0, evidence: image })]).halted).toBeUndefined();
  });

  const halted = (more: object = {}): RolloutNote => ({
    ...{ at: '2026-11-22T11:59:00Z', cause: 'Crash', evidence: 'x', template: '1', injection: 'i', ...more },
  });
  it('has what is not ready with the injection replaced, and nothing else', () => {
    const list = [pod('a'), pod('b', injected), pod('c', young), pod('d', { ...young, owner: undefined })];
    expect(evicted(list, {}, lumigo({}, { podsHalted: halted() }))).toEqual(['c']);
    const grown = pod('old', { ...young, createdAt: epoch - 7 * 24 * 3_600_000 });
    expect(evicted([pod('a'), grown], {}, lumigo({}, { podsHalted: halted() }))).toEqual([]);
    const fresh = plan(list, {}, lumigo({}, { podsHalted: halted({ at: iso }) }));
    expect(fresh).toMatchObject({ evict: [], wakeAt: now.ms + 5_000 });
  });

  it.each<[string, object, RolloutNote, string]>([
    ['the spec', { generation: 2 }, halted(), 'i'],
    ['the injector', {}, halted(), 'j'],
    ['the annotation lumigo.retry', { annotations: { 'lumigo.retry': '1' } }, halted(), 'i'],
  ])('ends with a change of %s', (_what, metadata, note, injector) => {
    const planned = plan([pod('a'), pod('b')], { injector }, lumigo(metadata, { podsHalted: note }));
    expect(planned).toMatchObject({ evict: [], halted: undefined, resumes: true });
  });
});

describe('when a Lumigo in Pod mode goes', () => {
  const going = lumigo({ deletionTimestamp: iso });
  it('one injected pod of each controller goes at a time, where another serves', () => {
    const list = [pod('a', injected), pod('b', injected), pod('c', { ...injected, ...of('ReplicaSet', 'alone') })];
    const planned = plan([...list, pod('d', { ...injected, ...of('StatefulSet') })], {}, going);
    expect(planned.evict.map(({ name }) => name)).toEqual(['a', 'd']);
    expect(planned.summary).toMatchObject({ waiting: 3, left: 1 });
  });

  it('one that is not ready goes first, and no other of its controller until nothing of it is going', () => {
    const broken = pod('b', { ...injected, readySince: undefined });
    expect(evicted([pod('a', injected), broken], {}, going)).toEqual(['b']);
    expect(evicted([pod('a', injected), broken, pod('c', { isGoing: true })], {}, going)).toEqual([]);
    expect(evicted([pod('a', injected), pod('b', { readySince: undefined })], {}, going)).toEqual([]);
  });
});
