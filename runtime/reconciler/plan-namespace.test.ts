import { describe, expect, it } from '@jest/globals';
import { lumigo as contract, workloadKinds } from '../contract.ts';
import { tracing } from '../../sandbox/testing/injection.ts';
import { getPolicy } from '../injection/policy.ts';
import type { LumigoResource, LumigoStatus } from '../api/lumigo.ts';
import type { ObservedLumigo, ObservedNamespace, ObservedWorkload } from './observed.ts';
import { planNamespace } from './plan-namespace.ts';
import { observeWorkload } from './workload-store.ts';

const { deployment } = workloadKinds;
const injectionStatus =
  'added 2026-11-20T10:00:00.000Z by controller; secret=lumigo-credentials/token traces=true logs=false';

const lumigo = (more: object = {}, status: object = {}): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: {
    namespace: 'shop',
    name: 'lumigo',
    uid: 'l',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-02T00:00:00Z',
    finalizers: [contract.finalizer],
    ...more,
  },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } } },
  status,
});
const ready = {
  conditions: [{ type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' }],
};
const podMode = { ...lumigo({}, ready), spec: { tracing: { injection: { mode: 'Pod' } } } } as const;
const going = { deletionTimestamp: '2026-01-03T00:00:00Z' };

const known = (resource: LumigoResource, more: Partial<ObservedLumigo> = {}): ObservedLumigo => ({
  resource,
  isBusy: false,
  listed: [],
  statusAt: -Infinity,
  listedAt: 0,
  ...more,
});

const workload = (name: string, more: Partial<ObservedWorkload> = {}): ObservedWorkload => ({
  ...observeWorkload(deployment, { namespace: 'shop', name, uid: name }),
  ...more,
});
const instrumented = (name: string, more: Partial<ObservedWorkload> = {}): ObservedWorkload =>
  workload(name, { label: 'lumigo-operator.v1', injectionStatus, instrumentedVersion: '9', ...more });
const entry = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name,
  namespace: 'shop',
  resourceVersion: '9',
  uid: name,
});

const DEADLINE_MS = 120_000;
function observed(lumigoes: readonly ObservedLumigo[], there: readonly ObservedWorkload[] = []): ObservedNamespace {
  const policy = getPolicy(lumigoes.map(({ resource }) => resource));
  return {
    policy,
    lumigoes,
    effective: lumigoes[0]?.resource.metadata.uid,
    credential: { problem: undefined, version: '5' },
    workloads: there,
    webhook: undefined,
    telemetry: undefined,
    token: {},
    pendingEvents: 0,
    removalDeadlineMs: DEADLINE_MS,
    underWay: 1,
    telemetryExpectedWithinMs: 3_600_000,
    rollout: {
      settings: { soakMs: 10_000, deadlineMs: 300_000, lookMs: 20_000, largestBatch: 50, label: 'lumigo-operator.v1' },
      injector: 'untried',
      hasRun: false,
      hasSlot: false,
    },
  };
}

const plan = (seen: ObservedNamespace, ms = 0) => planNamespace(seen, { ms, iso: '2026-11-22T00:00:00Z' });
const actions = (seen: ObservedNamespace, ms = 0) => plan(seen, ms).lumigoActions.map((action) => action.kind);
/** Returns the status that is written first, or an empty one. */
const getStatus = (seen: ObservedNamespace, ms = 0): LumigoStatus => {
  const [first] = plan(seen, ms).lumigoActions;
  return first?.kind === 'write-status' ? first.status : {};
};
const changes = (seen: ObservedNamespace, ms = 0) => plan(seen, ms).changes.map((change) => change.workload.name);

describe('a Lumigo', () => {
  const cases: readonly [title: string, seen: ObservedNamespace, expected: readonly string[]][] = [
    ['gets our finalizer first', observed([known(lumigo({ finalizers: [] }))]), ['add-finalizer']],
    ['has the list of an earlier leader read', observed([known(lumigo(), { listed: undefined })]), ['adopt']],
    ['is told what holds once its Secret was read', observed([known(lumigo())]), ['write-status']],
    [
      'is told at once that its namespace is excluded',
      { ...observed([known(lumigo())]), policy: { kind: 'excluded' }, credential: undefined },
      ['write-status'],
    ],
    [
      'learns of a removal also before its Secret was read',
      { ...observed([known(lumigo(going), { listed: [entry('a')] })], [instrumented('a')]), credential: undefined },
      ['write-status'],
    ],
    ['is skipped until then', { ...observed([known(lumigo())]), credential: undefined }, []],
    ['is skipped while something is written to it', observed([known(lumigo(), { isBusy: true })]), []],
    ['is given time after a failure', observed([known(lumigo(), { failure: { count: 1, retryAt: 9 } })]), []],
    ['goes when nothing of it is left', observed([known(lumigo(going))]), ['remove-finalizer']],
    [
      'stays while workloads have to be changed',
      observed([known(lumigo(going), { listed: [entry('a')] })], [instrumented('a')]),
      ['write-status'],
    ],
    [
      'that another one outlives goes at once',
      { ...observed([known(lumigo()), known(lumigo({ ...going, uid: 'm' }))]), credential: undefined },
      ['remove-finalizer'],
    ],
    [
      'stays until everything is told: its list tells the next leader what is not',
      { ...observed([known(lumigo(going))]), pendingEvents: 1 },
      ['write-status'],
    ],
  ];
  it.each(cases)('%s', (_title, seen, expected) => {
    expect(actions(seen)).toEqual(expected);
    expect(plan(seen).wakeAt).toBeGreaterThan(0);
  });

  it('is tried again when the time after a failure is over', () => {
    const failed = observed([known(lumigo(), { failure: { count: 1, retryAt: 9 } })]);
    expect([plan(failed).wakeAt, actions(failed, 8), actions(failed, 9)]).toEqual([9, [], ['write-status']]);
  });

  it('is told which problem it has', () => {
    const second = lumigo({ uid: 'm', name: 'second' });
    const twice = plan(observed([known(lumigo()), known(second)])).lumigoActions;
    const ready = (status: LumigoStatus) => status.conditions?.find(({ type }) => type === 'Ready');
    const seen = observed([known(lumigo())]);
    const refused = { kind: 'inactive', lumigo: 'lumigo', reason: 'TracerSettingRefused' } as const;
    const credential = { problem: { reason: 'SecretNotFound', message: 'gone' } as const, version: undefined };
    expect(twice.map((action) => action.kind === 'write-status' && ready(action.status))).toMatchObject([
      { reason: 'Checking' },
      { reason: 'DuplicateLumigo' },
    ]);
    expect([
      ready(getStatus({ ...seen, policy: { kind: 'excluded' } })),
      ready(getStatus({ ...seen, credential, policy: { ...refused, message: 'no' } })),
      ready(getStatus({ ...seen, credential, policy: refused })),
      ready(getStatus({ ...seen, credential })),
    ]).toMatchObject([
      { reason: 'NamespaceExcluded' },
      { reason: 'TracerSettingRefused', message: 'no' },
      { reason: 'SecretNotFound' },
      { reason: 'SecretNotFound' },
    ]);
  });

  it('in Pod mode counts pods, and shows their policy', () => {
    const pods = { injected: 3, without: 1, isPartial: false, policy: 'working' } as const;
    const policy = { kind: 'pods', lumigo: 'lumigo', tracing } as const;
    const seen = { ...observed([known(podMode)], [workload('a')]), policy, pods };
    const { conditions, instrumentedResourcesCount } = getStatus(seen);
    expect(instrumentedResourcesCount).toBe(3);
    expect(Object.fromEntries((conditions ?? []).map(({ type, status }) => [type, status]))).toMatchObject({
      PodPolicyInstalled: 'True',
      RolledOut: 'False',
    });
    const workloads = getStatus({ ...seen, policy: observed([known(lumigo({}, ready))]).policy });
    expect(workloads.instrumentedResourcesCount).toBe(0);
    expect(workloads.conditions?.map(({ type }) => type)).not.toContain('RolledOut');
  });

  it('does not say that it is rolled out once it disables injection', () => {
    const progressing = { ...ready.conditions[0], type: 'RolledOut', status: 'False', reason: 'Progressing' };
    const seen = (enabled: boolean) => {
      const resource = lumigo({}, { conditions: [...ready.conditions, progressing] });
      return observed([known({ ...resource, spec: { ...resource.spec, tracing: { injection: { enabled } } } })]);
    };
    const rolledOut = [true, false].map((enabled) =>
      getStatus(seen(enabled)).conditions?.find(({ type }) => type === 'RolledOut'),
    );
    expect(rolledOut).toMatchObject([{ status: 'True' }, { status: 'Unknown', reason: 'Stopped' }]);
  });

  it('keeps its finalizer while a workload only waits, however long that takes [F3]', () => {
    const seen = observed([known(lumigo(going), { listed: [entry('a')] })], [instrumented('a')]);
    expect(actions(seen, 100 * DEADLINE_MS)).not.toContain('remove-finalizer');
    expect(changes(seen, 100 * DEADLINE_MS)).toEqual(['a']);
  });

  it('is released after a deadline if only refusing workloads remain, and wakes for it [F3]', () => {
    const seen = observed([known(lumigo(going), { listed: [entry('a')] })]);
    const failure = { policy: seen.policy, count: 9, refusedSince: 0, retryAt: 10 * DEADLINE_MS, problem: 'no' };
    const refusing = { ...seen, workloads: [instrumented('a', { failure })] };
    expect(actions(refusing, DEADLINE_MS - 1)).not.toContain('remove-finalizer');
    const { lumigoActions } = plan(refusing, DEADLINE_MS);
    expect(lumigoActions).toMatchObject([
      { reason: 'the remaining workloads refuse to change', leftBehind: [{ name: 'a' }] },
    ]);
    const [release] = plan(observed([known(lumigo(going))])).lumigoActions;
    expect(release).toMatchObject({ kind: 'remove-finalizer', reason: 'no instrumentation is left', leftBehind: [] });
    const unanswered = {
      ...seen,
      workloads: [instrumented('a', { failure: { ...failure, refusedSince: undefined } })],
    };
    expect(actions(unanswered, 100 * DEADLINE_MS)).not.toContain('remove-finalizer');
  });

  it('shows the progress of a removal [F3]', () => {
    const seen = observed(
      [known(lumigo(going), { listed: [entry('a'), entry('b')] })],
      [instrumented('a'), instrumented('b')],
    );
    const [action] = plan(seen).lumigoActions;
    expect(JSON.stringify(action)).toContain('This Lumigo resource is being deleted. 2 workloads wait for a change');
  });

  it.each([
    [{ enabled: true }, 'Waiting for a probe of the webhook'],
    [{ enabled: false }, 'Lumigo works in this namespace'],
    [{ mode: 'Pod' }, 'Waiting for a look at the policy of Pod mode'],
  ] as const)('with `tracing.injection: %j` is as ready as that needs: %s', (injection, message) => {
    const resource = lumigo();
    const chosen = { ...resource, spec: { ...resource.spec, tracing: { injection } } };
    const { conditions } = getStatus({ ...observed([known(chosen)]), token: { generation: 1, accepted: 'working' } });
    expect(conditions?.[0]).toMatchObject({ type: 'Ready', message });
  });

  it('keeps the report of a failing injector until the injections of an earlier leader are read', () => {
    const injector = { health: 'failing', why: 'it fails' } as const;
    const seen = observed([known(lumigo({}, { ...ready, injector }))]);
    const report = (...workloads: ObservedWorkload[]) => getStatus({ ...seen, workloads }).injector?.health;
    const state = { kind: 'queued', risk: { rank: 0, pods: 1 }, isNext: false, attempt: 0 } as const;
    const failure = { policy: seen.policy, count: 1, refusedSince: 0, retryAt: 9, problem: 'no' };
    const write = { policy: seen.policy, at: 0, touchedAt: 0, repeats: 1 };
    const unanswered = instrumented('a', { failure: { ...failure, refusedSince: undefined } });
    const unread = [[instrumented('a')], [instrumented('a'), workload('b', { state })], [unanswered]];
    for (const there of unread) expect(report(...there)).toBe('failing');
    const read = [
      workload('a'),
      instrumented('a', { state }),
      instrumented('a', { failure }),
      instrumented('a', { write }),
    ];
    for (const each of read) expect(report(each)).not.toBe('failing');
  });

  it('has its status written once', () => {
    const status = getStatus(observed([known(lumigo())]));
    const told = observed([known(lumigo({}, status))]);
    expect(actions(told)).toEqual([]);
    // Then it no longer waits for a first probe.
    expect(plan(told, 5).wakeAt).toBe(30_005);
    expect(status.instrumentedResources).toEqual([]);
    expect(plan(observed([known(lumigo())])).lumigoActions).toMatchObject([{ withList: true }]);
  });

  it.each([
    [1, 1_000],
    [10, 1_000],
    [100, 10_000],
  ])('with %d namespaces in progress updates its counts every %d ms, and a problem at once', (underWay, ms) => {
    const seen = { ...observed([known(lumigo())], [workload('a'), workload('b'), workload('c')]), underWay };
    const status = getStatus(seen);
    const told = { ...seen, lumigoes: [known(lumigo({}, status), { statusAt: 5_000 })] };
    const later = {
      ...told,
      workloads: [instrumented('a', { checkedUnder: seen.policy }), workload('b'), workload('c')],
    };
    expect(plan(told, 5_001).lumigoActions).toEqual([]);
    expect(plan(later, 5_000 + ms - 1)).toMatchObject({ lumigoActions: [], wakeAt: 5_000 + ms });
    expect(actions(later, 5_000 + ms)).toEqual(['write-status']);
    const credential = { problem: { reason: 'SecretNotFound', message: 'gone' } as const, version: undefined };
    expect(actions({ ...told, credential }, 6_000)).toEqual(['write-status']);
  });

  it('has no status written because a user changed a workload, unless its injection fails [D23]', () => {
    const seen = observed([known(lumigo({}, ready), { listed: [entry('a')], listedAt: 1_000 })]);
    const { policy } = seen;
    const status = getStatus({ ...seen, workloads: [instrumented('a', { checkedUnder: policy })] });
    const told = [known(lumigo({}, status), { listed: [entry('a')], listedAt: 1_000 })];
    const after = (facts: Partial<ObservedWorkload>) =>
      actions({ ...seen, lumigoes: told, workloads: [instrumented('a', facts)] }, 60_000);
    expect(after({ checkedBefore: policy })).toEqual([]);
    expect(after({})).toEqual(['write-status']);
    const failure = { policy, count: 1, refusedSince: 0, retryAt: 90_000, problem: 'denied' };
    expect(after({ checkedBefore: policy, failure })).toEqual(['write-status']);
  });

  it('has its status written at most once a second, also if another writer overwrites it [F71]', () => {
    const seen = observed([known(lumigo())]);
    const said = getStatus(seen);
    const other = { ...said, conditions: (said.conditions ?? []).map((each) => ({ ...each, reason: 'Other' })) };
    const written = known(lumigo({}, other), { statusAt: 5_000 });
    expect(plan(observed([written]), 5_001)).toMatchObject({ lumigoActions: [], wakeAt: 6_000 });
    expect(actions(observed([written]), 6_000)).toEqual(['write-status']);
  });

  it("waits longer each time before it overwrites another writer's status, up to 5 minutes [F71]", () => {
    const said = getStatus(observed([known(lumigo())]));
    const other = { ...said, instrumentedResourcesCount: 7 };
    const waits = [{}, { repeats: 1 }, { repeats: 2 }, { repeats: 20 }].map((more) => {
      const contested = known(lumigo({}, other), { statusAt: 5_000, lastStatus: said, ...more });
      return plan(observed([contested]), 5_001).wakeAt - 5_000;
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 300_000]);
    const { observedGeneration: _dropped, ...byOlderDefinition } = said;
    const dropped = known(lumigo({}, byOlderDefinition), { statusAt: 5_000, lastStatus: said, repeats: 20 });
    expect(plan(observed([dropped]), 5_001).wakeAt).toBe(305_000);
    const repeatsAfter = (ms: number) => plan(observed([dropped]), ms).lumigoActions;
    expect([repeatsAfter(604_999), repeatsAfter(605_000)]).toMatchObject([[{ repeats: 21 }], [{ repeats: 0 }]]);
    const news = {
      ...observed([known(lumigo({}, other), { statusAt: 5_000, lastStatus: said, repeats: 20 })]),
      pendingEvents: 0,
    };
    const credential = { problem: { reason: 'SecretNotFound', message: 'gone' } as const, version: undefined };
    expect(actions({ ...news, credential }, 6_000)).toEqual(['write-status']);
  });

  it('counts the workloads that exceed the size limit, under the policy of their check [F20]', () => {
    const seen = observed([known(lumigo({}, ready))]);
    const lastDecision = { policy: seen.policy, tried: 'add', code: 'too-large' } as const;
    const said = (checkedUnder: ObservedWorkload['checkedUnder']) =>
      JSON.stringify(plan({ ...seen, workloads: [workload('a', { lastDecision, checkedUnder })] }).lumigoActions);
    expect(said(seen.policy)).toContain('1 workload exceeds the size limit');
    expect(said(undefined)).not.toContain('size limit');
  });

  it('lists the state of each, and writes changes of states alone at most every ten seconds', () => {
    const seen = observed([known(lumigo({}, ready), { listed: [entry('a')], listedAt: 1_000 })]);
    const state: ObservedWorkload['state'] = {
      kind: 'verified',
      until: 0,
      progress: { available: 2, at: 0 },
      template: '',
      isCurrent: true,
      attempt: 0,
      wakeAt: Infinity,
    };
    const shown = { telemetry: 'Received', telemetrySince: '2026-11-21T00:00:00Z' } as const;
    const there = { ...seen, workloads: [instrumented('a', { checkedUnder: seen.policy, state, ...shown })] };
    expect(plan(there, 2_000).lumigoActions).toMatchObject([{ kind: 'write-status', withList: false }]);
    const status = getStatus(there, 2_000);
    const later = { ...there, lumigoes: [{ ...known(lumigo({}, status)), listed: [entry('a')], listedAt: 1_000 }] };
    expect(plan(later, 2_000)).toMatchObject({ lumigoActions: [], wakeAt: 11_000 });
    const grown = { ...later, workloads: [...there.workloads, instrumented('b', { checkedUnder: seen.policy })] };
    expect(plan(grown, 2_000).lumigoActions).toMatchObject([{ withList: true }]);
    // It waits for events, because changes come in groups.
    expect(plan({ ...grown, pendingEvents: 1 }, 2_000).lumigoActions).not.toMatchObject([{ withList: true }]);
    expect(plan(later, 11_000).lumigoActions).toMatchObject([
      { withList: true, status: { instrumentedResources: [{ name: 'a', state: 'Verified', ...shown }] } },
    ]);
  });

  it('reports injections that send to another installation [F10]', () => {
    const away = instrumented('a', { elsewhere: 'http://old' });
    const seen = observed([known(lumigo({}, ready), { listed: [entry('a')] })]);
    const [action] = plan({ ...seen, workloads: [{ ...away, checkedUnder: seen.policy }] }).lumigoActions;
    expect(JSON.stringify(action)).toContain('"reason":"OtherEndpoint","message":"1 workload sends');
  });
});

describe('the workloads of a namespace', () => {
  const { policy } = observed([known(lumigo())]);
  const ending = [known(lumigo(going), { listed: [entry('a')] })];
  const failure = { count: 1, refusedSince: 0, retryAt: 10, problem: 'refused', policy: observed(ending).policy };
  const probation = { template: 'one', isCurrent: true, attempt: 0, wakeAt: 5_000 };
  const rolling = { kind: 'rolling', progress: { available: 0, at: 0 }, ...probation } as const;
  const silent = { telemetry: 'NothingYet', telemetrySince: '2026-11-22T00:00:00Z' } as const;
  it.each<[string, ObservedLumigo[], Partial<ObservedWorkload>, number]>([
    ['retried', [known(lumigo())], { failure: { ...failure, policy } }, 10],
    ['judged', [known(lumigo())], { checkedUnder: policy, state: rolling }, 5_000],
    ['about to send telemetry', [known(lumigo())], { checkedUnder: policy, ...silent }, 3_600_000],
    ['rejecting a removal', ending, { failure: { ...failure, retryAt: 0, refusedSince: 1 } }, DEADLINE_MS + 1],
  ])('may be any number: %s', (_title, lumigoes, facts, wakeAt) => {
    const many = Array<ObservedWorkload>(200_000).fill(instrumented('a', facts));
    expect(plan({ ...observed(lumigoes, many), policy: facts.failure?.policy ?? policy }).wakeAt).toBe(wakeAt);
  });

  it('are not changed before the list of an earlier leader is read', () => {
    const there = [workload('a')];
    expect(changes(observed([known(lumigo({}, ready), { listed: undefined })], there))).toEqual([]);
    expect(changes(observed([known(lumigo({}, ready))], there))).toEqual(['a']);
  });

  it.each([
    ['is not read yet', undefined],
    ['has a problem', { problem: { reason: 'SecretNotFound', message: 'gone' }, version: undefined } as const],
  ])('are not changed while the Secret %s, but removed from [D13]', (_title, credential) => {
    expect(changes({ ...observed([known(lumigo({}, ready))], [workload('a')]), credential })).toEqual([]);
    const ending = observed([known(lumigo(going), { listed: [entry('a')] })], [instrumented('a')]);
    expect(changes({ ...ending, credential })).toEqual(['a']);
  });

  it('are reverted also while the Secret has a problem [F58]', () => {
    const problem = { reason: 'SecretNotFound', message: 'gone' } as const;
    const revert = { kind: 'reverting', evidence: { cause: 'Crash', message: '' }, template: '', attempt: 1 } as const;
    const failing = instrumented('a', { state: { ...revert, wakeAt: 0 } });
    const seen = observed([known(lumigo({}, ready))], [failing]);
    const policy = { kind: 'inactive', lumigo: 'lumigo', ...problem } as const;
    expect(changes({ ...seen, policy, credential: { problem, version: undefined } })).toEqual(['a']);
  });

  it('are removed from without the list if the status could not be written five times', () => {
    const after = (count: number) =>
      changes(observed([known(lumigo(going), { failure: { count, retryAt: 9 } })], [instrumented('a')]));
    expect([after(4), after(5)]).toEqual([[], ['a']]);
  });

  it('are removed from only after the list has them, because a removal leaves no other trace', () => {
    const there = [instrumented('a')];
    const unlisted = observed([known(lumigo(going))], there);
    expect(changes(unlisted)).toEqual([]);
    expect(plan(unlisted).lumigoActions).toMatchObject([{ kind: 'write-status', withList: true }]);
    expect(changes(observed([known(lumigo(going), { listed: [entry('a')] })], there))).toEqual(['a']);
    const others = [
      { kind: 'disabled', lumigo: 'lumigo', remove: true },
      { kind: 'pods', lumigo: 'lumigo', tracing },
    ] as const;
    for (const policy of others) {
      expect(changes({ ...observed([known(lumigo())], there), policy })).toEqual([]);
      expect(changes({ ...observed([known(lumigo(), { listed: [entry('a')] })], there), policy })).toEqual(['a']);
    }
  });

  it('are listed in order up to 1,000, counted beyond, and still removed', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `app-${String(index).padStart(3, '0')}`);
    const last = instrumented('a', { kind: workloadKinds.daemonSet });
    const there = [last, ...names.map((_, index) => instrumented(names[(index * 7) % 1_000] ?? ''))];
    const seen = observed([known(lumigo({}, ready))]);
    const others = [instrumented('0', { deleting: true }), workload('0')];
    const settled = [...there, ...others].map((each) => ({ ...each, checkedUnder: seen.policy }));
    const status = getStatus({ ...seen, workloads: settled });
    expect(status.instrumentedResourcesCount).toBe(1_001);
    expect(status.instrumentedResources?.map(({ name }) => name)).toEqual(names);
    const ending = [known(lumigo(going), { listed: names.map(entry) })];
    const isFirst = ({ name }: ObservedWorkload) => name === names[0];
    for (const left of [there, there.filter((each) => !isFirst(each))])
      expect(changes(observed(ending, left))).toHaveLength(left.length);
  });

  it('are read at once when a user scales them, and no status calls that an undone change', () => {
    const seen = observed([known(lumigo({}, ready), { listed: [entry('a')] })]);
    const { policy } = seen;
    const scaled = (repeats: number, undoneAt?: number) => {
      const write = { policy, at: 0, touchedAt: 60_000, undoneAt, repeats };
      return { ...seen, workloads: [instrumented('a', { checkedBefore: policy, write })] };
    };
    expect(changes(scaled(0), 60_000)).toEqual(['a']);
    expect(JSON.stringify(plan(scaled(0), 60_000).lumigoActions)).not.toContain('changed back');
    expect(changes(scaled(1), 60_000)).toEqual(['a']);
    expect(changes(scaled(1, 60_000), 60_000)).toEqual([]);
    expect(JSON.stringify(plan(scaled(1, 60_000), 60_000).lumigoActions)).toContain('changed back by another writer');
  });
});
