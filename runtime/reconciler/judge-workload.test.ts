import { expect, it } from '@jest/globals';
import { instrumentedByOriginal } from '../../sandbox/original/injected.ts';
import { activePolicy, changed, decided, injector, made, withContainers } from '../../sandbox/testing/injection.ts';
import { annotations, workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { none } from '../injection/decision.ts';
import { withRevert } from '../injection/revert.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { ApiError } from '../kubernetes/http/errors.ts';
import type { Evidence } from '../rollout/evidence.ts';
import type { Observation, WorkloadState } from '../rollout/workload-state.ts';
import type { ChangeResult } from './facts.ts';
import { WorkloadJudge } from './judge-workload.ts';
import { classifyWorkload, judgedBefore, mayHang, observe } from './observations.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { Rollouts } from './rollouts.ts';
import { observeWorkload, WorkloadStore } from './workload-store.ts';

const { daemonSet, deployment, replicaSet, statefulSet } = workloadKinds;
const config = { version: '2.0.0', rolloutSoakSeconds: 0, rolloutDeadlineSeconds: 300, rolloutLookSeconds: 20 };
function termOf(more: object = {}) {
  const store = new WorkloadStore();
  const { signal } = new AbortController();
  const term = { store, config: { ...config, ...more }, signal } as unknown as ReconcilerContext;
  return { store, term, rollouts: new Rollouts(term) };
}

const plain = changed(decided(made()));
const injected: Workload = { ...plain, spec: { ...(plain['spec'] as object), replicas: 1 } };
const available = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };

function judging(more: object = {}) {
  const { store, term, rollouts } = termOf(more);
  const judge = new WorkloadJudge(term, rollouts);
  /** The watch and a reading show a version of the workload. Returns its state. */
  const see = async (resourceVersion: string, { metadata, ...rest }: Workload) => {
    const workload = { ...rest, metadata: { ...metadata, uid: 'u', resourceVersion } };
    const known = store.upsert(deployment, workload.metadata)?.workload;
    if (known === undefined) throw new Error('it has an owner');
    rollouts.touch(known);
    await judge.observe(known, { kind: 'left', workload, decision: none('up-to-date', workload) });
    return store.latest(known)?.state?.kind;
  };
  return { store, judge, see, rollouts };
}

it('takes an injection with the image of another webhook for current, in its namespace alone', () => {
  const text = JSON.stringify(plain).replace('"image":"autotrace:2"', '"image":"mirror/autotrace:2"');
  expect(text).toContain('mirror/');
  const seen = classifyWorkload(JSON.parse(text) as Workload, { injector: 'untried', image: injector.image });
  expect(seen).toMatchObject({ isCurrent: true, isLocal: true });
});

it.each([
  ['that it wrote itself leads to a revert', true, 'reverting'],
  ['of an earlier leader, after which its user may have changed it, stands', false, 'untested'],
] as const)('an abort of an injection %s', async (_title, isWritten, expected) => {
  const { store, judge, see } = judging({ rolloutDeadlineSeconds: 0 });
  const decision = decided(made(), { by: 'controller', now: new Date().toISOString() });
  if (decision.kind === 'none') throw new Error(decision.message);
  const { metadata, spec, ...rest } = changed(decision);
  const status = { abort: true, updatedReplicas: 0 };
  const workload = { ...rest, metadata, spec: { ...(spec as object), replicas: 1 }, status };
  const known = store.upsert(deployment, { ...metadata, uid: 'u', resourceVersion: '1' })?.workload;
  if (known === undefined) throw new Error('it has an owner');
  if (isWritten) await judge.observe(known, { kind: 'written', change: 'added', workload, decision });
  else expect(await see('1', workload)).toBe('rolling');
  expect(await see('2', workload)).toBe(expected);
});

it('knows with the strategy `immediate` when pods run, from when telemetry is expected', async () => {
  const { store, see } = judging({ rolloutStrategy: 'immediate' });
  expect(await see('1', injected)).toBe('unready');
  expect(await see('2', { ...injected, status: available })).toBe('verified');
  expect(await see('3', injected)).toBe('verified');
  expect(store.in('shop')).toMatchObject([{ state: { wakeAt: Infinity } }]);
  expect(await see('4', made())).toBeUndefined();
});

it.each([' keep', ': a container is skipped'])(
  'judges no verified injection again whose record gains `%s`',
  async (more) => {
    const { see } = judging();
    const { spec } = injected;
    const { metadata, ...rest } = { ...changed(decided(made(), { now: new Date().toISOString() })), spec };
    expect(await see('1', { ...rest, metadata, status: available })).toBe('verified');
    const record = `${metadata.annotations?.[annotations.instrumentation]}${more}`;
    const noted = { ...metadata, annotations: { ...metadata.annotations, [annotations.instrumentation]: record } };
    const broken = withContainers({ ...rest, metadata: noted }, () => ({ image: 'broken' }));
    expect(await see('2', broken)).toBe('verified');
  },
);

it('keeps what it knows of an injection without its label, and reads it again after a change', async () => {
  const { store, see, rollouts } = judging();
  expect(await see('1', injected)).toBe('unready');
  expect(await see('2', { ...injected, metadata: { ...injected.metadata, labels: {} } })).toBe('unready');
  expect(store.in('shop').map((known) => rollouts.touch(known))).toEqual([true]);
});

it('begins a soak again with a reading that is ahead of the watch', async () => {
  const { store, judge } = judging({ rolloutSoakSeconds: 10 });
  const since = performance.now() - 20_000;
  const metadata = { ...injected.metadata, uid: 'u', resourceVersion: '2' };
  const workload = { ...injected, metadata, status: available };
  const { template } = classifyWorkload(workload, { injector: 'unknown', image: injector.image });
  const begun = { since, from: since, progress: { available: 1, at: since } };
  const state = { kind: 'soaking', ...probation, ...begun, template, isCurrent: true } as const;
  const seenBy = async (resourceVersion: string) => {
    const shown = store.upsert(deployment, metadata)?.workload;
    const known = shown && store.update(shown, { state, changedAt: since, judged: shown.injectionStatus });
    const result = { kind: 'left', workload, decision: none('up-to-date', workload) } as const;
    if (known !== undefined) await judge.observe({ ...known, resourceVersion }, result);
    return store.in('shop')[0]?.state?.kind;
  };
  expect([await seenBy('2'), await seenBy('1')]).toEqual(['verified', 'soaking']);
});

it('leaves 20 s between two looks at failing pods, even without a soak', () => {
  expect(termOf().rollouts.observe('shop').settings).toMatchObject({ soakMs: 0, lookMs: 20_000 });
});

const risk = { rank: 0, pods: 2 } as const;
const evidence: Evidence = { cause: 'InjectorImage', message: 'there is no image' };
const reverted: WorkloadState = { kind: 'reverted', evidence, risk, attempt: 1, wakeAt: Infinity };

const record = { at: 'now', cause: 'Crash', attempt: 1, key: '0'.repeat(16), evidence: '' } as const;
const noted = { ...made(), metadata: withRevert(made().metadata, record) };
it.each([
  [
    'a removal that is no revert forgets the failure, because the next `Lumigo` decides anew',
    'deleting',
    made(),
    undefined,
  ],
  ['a revert is remembered', 'reverted', noted, 'reverted'],
  ['a revert is remembered if another webhook strips its record', 'reverted', made(), 'reverted'],
] as const)('%s', async (_title, cause, workload, expected) => {
  const { store, judge } = judging();
  const shown = store.upsert(deployment, { ...injected.metadata, uid: 'u', resourceVersion: '1' })?.workload;
  const known =
    shown && store.update(shown, { state: { kind: 'reverting', evidence, template: 'one', attempt: 1, wakeAt: 0 } });
  if (known === undefined) throw new Error('it has an owner');
  const decision = {
    kind: 'remove',
    tried: 'remove',
    code: 'removed',
    cause,
    message: '',
    workload,
  } as const;
  await judge.observe(known, { kind: 'written', change: 'removed', workload, decision });
  expect(store.latest(known)?.state?.kind).toBe(expected);
});

const probation = { progress: { available: 2, at: -20_000 }, template: 'one', attempt: 0, wakeAt: 0 };
const complete = { kind: 'complete', available: 2 } as const;
const reading = { completion: complete, template: 'one', isCurrent: true, risk, injector: 'failing' } as const;
const runs: Observation = { kind: 'status', unchangedSince: -20_000, ...reading };

it.each([
  ['frees the workloads whose injector failed, if it was a retry', { freed: 'retry', isCurrent: true }, 'queued'],
  ['changes nothing about them if it was no retry', { isCurrent: true }, 'reverted'],
  ['changes nothing about them if it has an older injector', { freed: 'retry', isCurrent: false }, 'reverted'],
] as const)('a workload that is verified %s', (_title, more, expected) => {
  const { store, rollouts } = termOf();
  const create = (name: string, namespace: string, state: WorkloadState) => {
    const seen = store.upsert(deployment, { name, namespace, uid: name, resourceVersion: '1' })?.workload;
    return seen === undefined ? undefined : store.update(seen, { state });
  };
  const tried = create('tried', 'shop', { kind: 'soaking', since: -20_000, from: -20_000, ...probation, ...more });
  create('other', 'shop', reverted);
  create('stranger', 'elsewhere', reverted);
  if (tried !== undefined) rollouts.see(tried, runs);
  const states = [...store.in('shop'), ...store.in('elsewhere')].map(({ state }) => state?.kind);
  expect(states).toEqual(['verified', expected, 'reverted']);
});

it.each(['the operator', 'another writer'])(
  'a removal by %s lets the pods of a StatefulSet be evicted [F58]',
  async (by) => {
    const { store, judge } = judging();
    const known = store.upsert(statefulSet, { uid: 'u' })?.workload;
    if (known === undefined) throw new Error('it has an owner');
    store.update(known, { state: { kind: 'rolling', ...probation, isCurrent: true } });
    const decision = decided(made({}, statefulSet));
    if (decision.kind === 'none') throw new Error(decision.message);
    const workload = made({}, statefulSet);
    await judge.observe(
      known,
      by === 'the operator'
        ? { kind: 'written', change: 'removed', workload, decision }
        : { kind: 'left', workload, decision: none('opted-out', workload) },
    );
    expect(store.latest(known)?.state?.kind).toBe('evicting');
  },
);

it('a StatefulSet that is deleted before its broken pods are evicted is forgotten, without an event', async () => {
  const { store, term, rollouts } = termOf();
  const known = store.upsert(statefulSet, { uid: 'u' })?.workload;
  if (known === undefined) throw new Error('it has an owner');
  const missing = new ApiError({ code: 404 }, { status: 404, subject: 'reading', retryAfterSeconds: undefined });
  const api = { readWorkload: () => Promise.reject(missing) } as unknown as ReconcilerContext['api'];
  expect(await new WorkloadJudge({ ...term, api }, rollouts).evict(known)).toBeUndefined();
});

const withRecord: Workload = {
  ...made(),
  metadata: withRevert({ uid: 'u' }, record),
};

it('retries a revert whose time cannot be read as late as a new one', () => {
  const known = { judged: undefined, changedAt: undefined, state: undefined, isOwn: false };
  const installed = { injector: 'untried', image: injector.image, isTrying: false } as const;
  expect(observe(withRecord, known, installed, 9_000)).toMatchObject({ kind: 'reverted-before', agoMs: 0 });
});

it.each([
  ['StatefulSet', statefulSet, {}, true],
  ['ReplicaSet, which keeps pods of several templates', replicaSet, {}, false],
  ['DaemonSet with `OnDelete`, as its user asks', daemonSet, { updateStrategy: { type: 'OnDelete' } }, false],
])('knows if the controller waits for broken pods: %s', (_what, kind, more, expected) => {
  const clean = made({}, kind);
  expect(mayHang({ ...clean, spec: { ...(clean['spec'] as object), ...more } })).toBe(expected);
});

/** The operator changes its own labels and annotations alone. */
async function corrected(before: Workload, policy: NamespacePolicy, status: object, state?: WorkloadState) {
  const { store, judge } = judging();
  const decision = decided(before, { policy, now: new Date().toISOString() });
  expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing' });
  const { spec, ...rest } = changed(decision);
  const metadata = { ...rest.metadata, uid: 'u', resourceVersion: '2' };
  const workload = { ...rest, metadata, spec: { ...(spec as object), replicas: 1 }, status };
  const known = store.upsert(deployment, metadata)?.workload;
  if (known === undefined) throw new Error('it has an owner');
  if (state !== undefined) store.update(known, { state });
  if (decision.kind !== 'none') await judge.observe(known, { kind: 'written', change: 'none', workload, decision });
  return store.latest(known)?.state;
}

it('knows that an adopted injection of the original runs, from when telemetry is expected', async () => {
  const original = instrumentedByOriginal(made());
  const policy = activePolicy({ secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false });
  expect(await corrected(original, policy, available)).toMatchObject({ kind: 'verified', wakeAt: Infinity });
  expect(await corrected(original, policy, {})).toMatchObject({ kind: 'unready', wakeAt: Infinity });
});

it('forgets a revert whose record it removes', async () => {
  expect(await corrected(withRecord, { kind: 'none' }, available, reverted)).toBeUndefined();
});

it.each<[string, ChangeResult, object | undefined]>([
  [
    'stays queued',
    { kind: 'failed', change: 'added', problem: '', isRefused: true },
    { kind: 'queued', isNext: false },
  ],
  ['is idle', { kind: 'left', workload: withRecord, decision: none('opted-out', withRecord) }, undefined],
])('a workload that is next and not injected makes room for others: it %s', async (_title, result, expected) => {
  const { store, judge } = judging();
  const known = store.upsert(deployment, { uid: 'u' })?.workload;
  if (known === undefined) throw new Error('it has an owner');
  store.update(known, { state: { kind: 'queued', risk, isNext: true, attempt: 0, freed: 'retry' } });
  await judge.observe(known, result);
  if (expected === undefined) expect(store.latest(known)?.state).toBeUndefined();
  else expect(store.latest(known)?.state).toMatchObject(expected);
});

const text = 'added 2026-11-20T10:00:00.000Z by webhook; secret=lumigo-credentials/token traces=true logs=false';
const adopted = text.replace('added', 'adopted');
const NOW = Date.parse('2026-11-20T10:20:00Z');

it.each([
  ['an old Job', workloadKinds.job, text, NOW + 3_600_000, { judged: text }],
  ['a recent Job, because its pods may show how the injector fares', workloadKinds.job, text, NOW, {}],
  ['an old Deployment, because it can change', deployment, text, NOW + 3_600_000, {}],
  ['a Job of the original operator, which was adopted', workloadKinds.job, adopted, NOW, { judged: adopted }],
] as const)('a new leader decides if it reads the injection of %s', (_what, kind, status, now, expected) => {
  const own = { [annotations.instrumentation]: status };
  const workload = observeWorkload(kind, { namespace: 'shop', name: 'a', annotations: own });
  expect(judgedBefore(workload, now)).toEqual(expected);
});
