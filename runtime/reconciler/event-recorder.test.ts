import { describe, expect, it } from '@jest/globals';
import { active, changed, decided, instrumented, made, tracing } from '../../sandbox/testing/injection.ts';
import { labels, workloadKinds } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';
import { blocked, corrected, none } from '../injection/decision.ts';
import { injectionStatus, type InjectionStatus } from '../injection/injection-status.ts';
import { labelValue } from '../injection/label.ts';
import { withRevert } from '../injection/revert.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { QueuedEvent } from '../kubernetes/resources/event-queue.ts';
import { EventRecorder } from './event-recorder.ts';
import { getFacts, type ChangeResult } from './facts.ts';
import { LumigoWriter } from './lumigo-writer.ts';
import type { ObservedWorkload } from './observed.ts';
import type { LumigoAction } from './plan-status.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { observeWorkload, WorkloadStore } from './workload-store.ts';

const policy: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const since = '2026-06-01T10:00:00.000Z';

const withInjectionStatus = (content: Pick<InjectionStatus, 'at' | 'change'>) =>
  observeWorkload(
    workloadKinds.deployment,
    injectionStatus({ namespace: 'shop', name: 'cart', uid: 'u' }, 'v1', { ...content, by: 'webhook', tracing }),
  );

function getEvents(report: (recorder: EventRecorder) => void): QueuedEvent[] {
  const added: QueuedEvent[] = [];
  report(new EventRecorder({ events: { add: (event) => added.push(event) }, since }));
  return added;
}
const countEvents = (report: (recorder: EventRecorder) => void): number => getEvents(report).length;

const bare: Metadata = { namespace: 'shop', name: 'cart', uid: 'u' };
const observed = (metadata: Metadata) => observeWorkload(workloadKinds.deployment, metadata);
const revert = { at: since, cause: 'Crash', attempt: 1, key: '0'.repeat(16), evidence: 'it exits' } as const;
const evidence = { cause: 'Crash', message: 'x' } as const;
const reverting = { kind: 'reverting', evidence, template: 'one', attempt: 1, wakeAt: 0 } as const;

const earlier = '2026-06-01T09:59:59.999Z';
it.each([
  [
    'reports a change after the last reports of an earlier leader',
    withInjectionStatus({ change: 'added', at: since }),
    1,
  ],
  [
    'skips a change that an earlier leader has reported [F11]',
    withInjectionStatus({ change: 'added', at: earlier }),
    0,
  ],
  ['skips an adopted injection', withInjectionStatus({ change: 'adopted', at: since }), 0],
  ['reports a revert that no leader has reported, such as after a crash', observed(withRevert(bare, revert)), 1],
  ['skips a revert that an earlier leader has reported', observed(withRevert(bare, { ...revert, at: earlier })), 0],
])('%s', (_what, workload, reports) => {
  expect(countEvents((recorder) => recorder.withInjectionStatus(workload, policy))).toBe(reports);
});

it('reports a revert after its write, and not before [F81]', () => {
  const before = { ...withInjectionStatus({ change: 'added', at: since }), state: reverting };
  const after = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: withRevert(bare, revert) };
  const written = { kind: 'written', change: 'removed', workload: after } as const;
  const removal = { kind: 'remove', tried: 'remove', code: 'removed', cause: 'reverted', message: '' } as const;
  const decision = { ...removal, workload: after };
  const failed = { kind: 'failed', change: 'removed', problem: 'no', isRefused: true } as const;
  const events = (result: ChangeResult, now: ObservedWorkload) =>
    getEvents((recorder) => recorder.result(now, before, policy, result));
  const message = 'Removed Lumigo instrumentation because pods failed with it (Crash): it exits';
  // The time is the key, so a second revert is another event.
  expect(events({ ...written, decision }, observed(after.metadata))).toMatchObject([{ message, key: revert.at }]);
  const cannot = expect.stringMatching(/^Cannot remove Lumigo instrumentation/) as unknown;
  expect(events(failed, before)).toMatchObject([{ message: cannot }]);
});

it('names an addition by its own time if the next leader has updated it before the answer arrives', () => {
  const mine = withInjectionStatus({ change: 'added', at: since });
  const theirs = withInjectionStatus({ change: 'updated', at: '2026-06-01T10:00:20.000Z' });
  const { metadata } = changed(decided(made(), { now: since, by: 'controller' }));
  const workload = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
  const decision = { kind: 'inject', tried: 'add', code: 'injected', message: '', skipped: [], workload } as const;
  const written = { kind: 'written', change: 'added', workload, decision } as const;
  const report = getEvents((recorder) => recorder.result(theirs, observed(bare), policy, written));
  const ofNextLeader = getEvents((recorder) => recorder.withInjectionStatus(mine, policy));
  expect(report).toMatchObject([{ reason: 'LumigoAddedInstrumentation', key: since }]);
  expect(report.map(({ key }) => key)).toEqual(ofNextLeader.map(({ key }) => key));
});

it('reports that another writer removes only the label or annotation', () => {
  const before = withInjectionStatus({ change: 'added', at: since });
  const after = { ...before, write: { policy, at: 2, touchedAt: undefined, repeats: 1 } };
  const workload = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: bare };
  const decision = corrected(workload, 'kept');
  const written = { kind: 'written', change: 'none', workload, decision } as const;
  const report = (now: ObservedWorkload) => getEvents((recorder) => recorder.result(now, before, policy, written));
  expect(report(before)).toEqual([]);
  const message = expect.stringContaining(
    'The label and annotation of the operator were added again. If this happens again, the operator waits one minute.',
  ) as unknown;
  expect(report(after)).toMatchObject([{ reason: 'LumigoInstrumentationContested', message }]);
});

it.each([
  ['reports a removal that only the watch has shown', withInjectionStatus({ change: 'added', at: since }), 1],
  ['skips the end of a revert, which removes no injection', observed(withRevert(bare, revert)), 0],
] as const)('%s', (_what, before, reports) => {
  expect(countEvents((recorder) => recorder.seen(observed(bare), before, policy))).toBe(reports);
});

it.each([
  ['a workload without a label', {}, ['7']],
  ['a workload that its user opted in', { [labels.autoTrace]: 'true' }, ['7']],
  ['a workload that its user opted out', { [labels.autoTrace]: 'false' }, ['7']],
  ['no workload with an injection that has no record', { [labels.autoTrace]: labelValue('69') }, []],
])('a new leader reports the unreported removal from %s', async (_what, own, expected) => {
  const store = new WorkloadStore();
  store.upsert(workloadKinds.deployment, { ...bare, labels: own });
  const lumigo = { metadata: { namespace: 'shop', name: 'lumigo', uid: 'l' } };
  const status = { instrumentedResources: [{ uid: 'u', resourceVersion: '7' }] };
  const api = { readLumigo: () => Promise.resolve({ ...lumigo, status }) };
  const keys: string[] = [];
  const events = { add: ({ key }: QueuedEvent) => keys.push(key) };
  const { signal } = new AbortController();
  await new Promise((enqueue) => {
    const term = { api, store, signal, enqueue, events, lumigoes: { policy: () => policy } };
    const adopt = { kind: 'adopt', lumigo } as unknown as LumigoAction;
    new LumigoWriter(term as unknown as ReconcilerContext).begin([adopt], []);
  });
  expect(keys).toEqual(expected);
});

it('repeats no event if only the reason of a skipped container changes, or that it is kept', () => {
  const before = withInjectionStatus({ change: 'added', at: since });
  const after = { ...before, injectionStatus: `${before.injectionStatus} keep: other reason` };
  expect(countEvents((recorder) => recorder.seen(after, before, policy))).toBe(0);
});

it('names the injector webhook for a removal in the write of another client, and itself for its own', () => {
  const before = withInjectionStatus({ change: 'added', at: since });
  const optedOut = observed({ ...bare, labels: { [labels.autoTrace]: 'false' } });
  const lost = { kind: 'failed', change: 'removed', problem: 'no answer', isRefused: false } as const;
  const messages = getEvents((recorder) => {
    recorder.seen(optedOut, before, policy, 'webhook');
    recorder.result(optedOut, { ...before, inFlight: {} }, policy, { kind: 'outdated' });
    recorder.result(optedOut, { ...before, inFlight: {} }, policy, lost);
  }).map(({ message }) => message);
  const removed = (by: string) =>
    `Lumigo instrumentation removed (trigger: ${by}, acting on behalf of the 'shop/lumigo' Lumigo resource)`;
  expect(messages).toEqual(['injector webhook', 'injector webhook', 'controller'].map(removed));
});

it('reports no removal if a list shows a workload from before its injection', () => {
  const before = { ...withInjectionStatus({ change: 'added', at: since }), resourceVersion: '20' };
  const listed = { ...observed(bare), resourceVersion: '19' };
  expect(countEvents((recorder) => recorder.seen(listed, before, policy))).toBe(0);
});

it('says of an injection by the webhook why it skips a container', () => {
  const valueFrom = { configMapKeyRef: { name: 'c', key: 'k' } };
  const containers = [{ name: 'app' }, { name: 'other', env: [{ name: 'LD_PRELOAD', valueFrom }] }];
  const { metadata } = instrumented(made({ pod: { containers } }), { now: since });
  const [event] = getEvents((recorder) => recorder.seen(observed(metadata), undefined, active));
  expect(event?.message).toContain('injector webhook');
  expect(event?.message).toContain("; container 'other' is skipped: its LD_PRELOAD uses valueFrom");
});

describe('a change that cannot be made', () => {
  const createdAt = '2026-05-01T00:00:00Z';
  const activeAt = '2026-05-02T00:00:00Z';
  const waiting: NamespacePolicy = { kind: 'inactive', lumigo: 'lumigo', reason: 'SecretNotFound' };
  const old: Metadata = { ...bare, creationTimestamp: createdAt, generation: 1, resourceVersion: '1' };
  const later = { ...old, generation: 2, resourceVersion: '2' };
  const shown = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: old };
  const tooSmall = blocked('add', 'refused', shown, 'its cpu limit is too low');
  const taken = blocked('add', 'refused', shown, 'it has such a volume');
  const tooLarge = (tried: 'update' | 'remove') => blocked(tried, 'too-large', shown);
  const fine = none('up-to-date', shown);

  /** A look under a policy, which sees or changes something. */
  const look = (under: NamespacePolicy, decision: typeof fine) => ({ under, decision });

  /** A term that begins with a policy and an old workload. Each step is a change in the watch, or a look. */
  function countInTerm(policy: NamespacePolicy, steps: readonly (Metadata | ReturnType<typeof look>)[]): number {
    const store = new WorkloadStore();
    const known = () => store.get(workloadKinds.deployment, 'shop', 'cart') as ObservedWorkload;
    store.upsert(workloadKinds.deployment, old);
    const events = getEvents((recorder) => {
      store.update(known(), recorder.begin(known(), policy, activeAt));
      for (const step of steps)
        if ('under' in step) {
          const { under, decision } = step as ReturnType<typeof look>;
          const before = known();
          const result = { kind: 'left', workload: shown, decision } as const;
          const facts = getFacts({ before, policy: under, result, isCurrent: true, now: 0, random: 0 });
          recorder.result(store.update(before, facts) ?? before, before, under, result);
        } else store.upsert(workloadKinds.deployment, step as Metadata);
    });
    return new Set(events.map(({ reason, key }) => `${reason}/${key}`)).size;
  }

  const other = { ...active };
  const tries = [look(active, tooLarge('update')), look(active, tooLarge('remove'))];
  it.each<readonly [string, number, NamespacePolicy, Parameters<typeof countInTerm>[1]]>([
    ['is reported when an old Lumigo becomes active', 1, waiting, [look(active, tooSmall)]],
    ['is reported when a user changes an old workload', 1, active, [look(active, fine), later, look(active, tooSmall)]],
    ['is reported when a user changes it before the first look', 1, active, [later, look(active, tooSmall)]],
    ['is reported when the Lumigo changes', 1, active, [look(active, tooSmall), look(other, tooSmall)]],
    ['is reported when another change is tried', 1, active, tries],
    ['is reported for each cause', 2, waiting, [look(active, tooSmall), later, look(active, taken)]],
    ['is no news for a new leader', 0, active, [look(active, tooSmall)]],
    ['is no news after another change', 0, active, [look(active, tooSmall), later, look(active, tooSmall)]],
  ])('%s', (_what, events, policy, steps) => expect(countInTerm(policy, steps)).toBe(events));

  it('is news for the first leader, if only the original operator has found the Lumigo active', () => {
    const recorder = new EventRecorder({ events: { add: () => undefined }, since });
    const begin = (...found: readonly string[]) => recorder.begin(observed(old), active, ...found);
    expect([begin(activeAt), begin()]).toEqual([{ lastDecision: { policy: active } }, {}]);
  });
});
