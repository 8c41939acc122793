import { describe, expect, it } from '@jest/globals';
import type { Condition, InstrumentedResource, LumigoStatus, Problem } from '../api/lumigo.ts';
import { guardAnswer, workloadKinds } from '../contract.ts';
import { credentialIn } from '../credentials/credential.ts';
import { noTelemetry } from './plan-telemetry.ts';
import { noRollout } from './plan-rollout.ts';
import { noProgress } from './plan-workloads.ts';
import { findDifference, getStatus, telemetryConditions, type StatusInput } from './conditions.ts';
import { observeWorkload } from './workload-store.ts';

const input: StatusInput = {
  metadata: { generation: 2 },
  problem: undefined,
  progress: noProgress,
  summary: noRollout,
  received: noTelemetry,
  instrumented: [],
  token: {},
  needed: [],
  now: '2026-11-20T10:00:00Z',
};
const later = '2026-11-20T11:00:00Z';
const statusOf = (more: Partial<StatusInput>, before?: ReturnType<typeof getStatus>) =>
  getStatus({ ...input, ...more }, before);
const injecting = { needed: ['WebhookReachable'] } as const;
const unread = { progress: { ...noProgress, pending: 1, instrumented: 1 } };
const noted = (progress: Partial<StatusInput['progress']>) =>
  findCondition(statusOf({ progress: { ...noProgress, ...progress } }), 'Active');
const findCondition = (status: ReturnType<typeof getStatus>, type: string) =>
  status.conditions?.find((condition) => condition.type === type);

describe('the status of a Lumigo', () => {
  it('always has Ready, Active and Error, with reasons and the observed generation', () => {
    const status = statusOf({});
    const told = { lastTransitionTime: input.now, observedGeneration: 2 };
    expect(status.conditions).toEqual([
      expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Ready', observedGeneration: 2 }),
      { type: 'Active', status: 'True', reason: 'Ready', message: 'Lumigo is ready', ...told },
      { type: 'Error', status: 'False', reason: 'NoError', message: '', ...told },
    ]);
    expect(status.observedGeneration).toBe(2);
  });

  it('has no token, also not one in place of the key of a Secret', () => {
    const token = `t_${'a1'.repeat(10)}f`;
    const { problem } = credentialIn({ data: {}, version: '7' }, { namespace: 'shop', name: 'lumigo', key: token });
    const status = statusOf({ problem });
    expect(findCondition(status, 'Error')?.message).toContain("Secret 'shop/lumigo' has no key 't_…'");
    expect(JSON.stringify(status)).not.toContain(token);
  });

  it('keeps the time of a condition until its status changes', () => {
    const ready = statusOf({});
    const still = statusOf({ progress: { ...input.progress, pending: 3 }, now: later }, ready);
    expect(findCondition(still, 'Active')).toMatchObject({ lastTransitionTime: input.now });
    const broken = statusOf({ problem: { reason: 'SecretNotFound', message: 'gone' }, now: later }, ready);
    expect(findCondition(broken, 'Active')).toMatchObject({ status: 'False', lastTransitionTime: later });
    const going = statusOf({ metadata: { generation: 2, deletionTimestamp: later } });
    expect(findCondition(going, 'Active')).toMatchObject({ status: 'False', reason: 'Deleting' });
    expect(findCondition(broken, 'Error')).toMatchObject({ status: 'True', reason: 'SecretNotFound', message: 'gone' });
  });

  it('has TokenAccepted from the first result on, and keeps it until a new result [F29]', () => {
    const type = 'TokenAccepted';
    const problem = { reason: 'TokenRefused', message: 'it is' } as const;
    const saying = (token: StatusInput['token'], before: ReturnType<typeof getStatus> | undefined) =>
      statusOf({ token: { generation: 2, ...token }, now: later }, before);
    expect(findCondition(saying({}, undefined), type)).toBeUndefined();
    const wrong = saying({ accepted: problem }, undefined);
    expect(findCondition(wrong, type)).toMatchObject({ status: 'False', ...problem });
    expect(findCondition(saying({}, wrong), type)).toMatchObject({ status: 'False', ...problem });
    expect(findCondition(saying({ accepted: 'working' }, wrong), type)).toMatchObject({ status: 'True' });
  });

  it('has TokenAccepted of the spec that the result is about, and none without a token', () => {
    const before = statusOf({ token: { generation: 2, accepted: 'working' } });
    const changed = { ...input, metadata: { generation: 3 }, token: { generation: 2, accepted: 'working' } } as const;
    expect(findCondition(getStatus(changed, before), 'TokenAccepted')).toMatchObject({ observedGeneration: 2 });
    const problem = { reason: 'SecretNotFound', message: 'gone' } as const;
    expect(findCondition(statusOf({ problem }, before), 'TokenAccepted')).toBeUndefined();
  });

  it('keeps what an earlier leader saw until there is a new result', () => {
    const before = statusOf({ ...injecting, webhook: 'working', telemetry: 'working' });
    expect(statusOf({ ...injecting, now: later }, before).conditions).toEqual(before.conditions);
    const queued = statusOf({ ...injecting, summary: { ...noRollout, queued: 1 } });
    const pending = statusOf({ ...injecting, ...unread }, queued);
    const known = [pending, statusOf(injecting, queued)].map((status) => findCondition(status, 'RolledOut')?.status);
    expect(known).toEqual(['False', 'True']);
  });

  const off: readonly [string, Partial<StatusInput>][] = [
    ['has an error', { problem: { reason: 'SecretNotFound', message: 'gone' } }],
    ['is being deleted', { metadata: { ...input.metadata, deletionTimestamp: later } }],
    ['disables injection', { needed: ['TokenAccepted'] }],
  ];

  it.each(off)('never says that it is rolled out while it %s, and says it again afterwards', (_what, ends) => {
    const before = statusOf({ ...injecting, summary: { ...noRollout, queued: 1 } });
    const find = (more: Partial<StatusInput>) =>
      findCondition(statusOf({ ...injecting, ...ends, ...more }, before), 'RolledOut');
    expect(find({})).toMatchObject({ status: 'Unknown', reason: 'Stopped' });
    expect(find(unread)).toMatchObject({ status: 'False', reason: 'Progressing' });
    expect(find({ summary: { ...noRollout, left: 1 } })).toMatchObject({ status: 'False', reason: 'LeftForNow' });
    const complete = statusOf(injecting, before);
    expect(findCondition(complete, 'RolledOut')).toMatchObject({ status: 'True' });
    const stopped = statusOf({ ...injecting, ...ends, ...unread }, complete);
    expect(findCondition(stopped, 'RolledOut')).toMatchObject({ status: 'Unknown', reason: 'Stopped' });
    expect(findCondition(statusOf(injecting, stopped), 'RolledOut')).toMatchObject({ status: 'True' });
  });

  it('has InjectionsCurrent of an earlier leader until each workload has been read', () => {
    const type = 'InjectionsCurrent';
    const failed = statusOf({ ...injecting, progress: { ...noProgress, elsewhere: 2 } });
    const find = (more: Partial<StatusInput>) => findCondition(statusOf({ ...injecting, ...more }, failed), type);
    expect([unread, {}].map((more) => find(more)?.status)).toEqual(['False', 'True']);
    expect(findCondition(statusOf({ ...injecting, ...unread }), type)).toBeUndefined();
    for (const [, ends] of off) {
      expect(find({ ...ends, progress: { ...noProgress, instrumented: 3 } })).toMatchObject({ status: 'False' });
      expect(find(ends)).toMatchObject({ status: 'True' });
    }
  });

  it.each(off)('keeps no count of pods while it %s', (_what, ends) => {
    const pods = { needed: ['PodPolicyInstalled'] } as const;
    const summary = { ...noRollout, pods: { injected: 1, without: 2, isPartial: false, policy: 'working' as const } };
    const before = statusOf({ ...pods, summary });
    expect(findCondition(before, 'RolledOut')).toMatchObject({ status: 'False', reason: 'PodsWithoutInjection' });
    expect(findCondition(statusOf({ ...pods, ...ends }, before), 'RolledOut')).toMatchObject({ reason: 'Stopped' });
  });

  it('has a condition for each result', () => {
    const needed = ['TokenAccepted', 'WebhookReachable', 'PodPolicyInstalled'] as const;
    const types = [
      'WebhookReachable',
      'PodPolicyInstalled',
      'TelemetryProxyReady',
      'InjectionsCurrent',
      'TokenAccepted',
    ];
    const said = (seen: Problem | 'working', elsewhere: number, before?: ReturnType<typeof getStatus>) => {
      const results = { webhook: seen, podPolicy: seen, telemetry: seen, token: { generation: 2, accepted: seen } };
      return statusOf({ ...results, needed, progress: { ...noProgress, elsewhere } }, before);
    };
    const failed = said({ reason: 'ProbeFailed', message: 'no' }, 2);
    const works = said('working', 0, failed);
    for (const type of types) {
      expect(findCondition(failed, type)).toMatchObject({ status: 'False' });
      expect(findCondition(works, type)).toMatchObject({ status: 'True' });
    }
    expect(findCondition(works, 'Ready')).toMatchObject({ status: 'True' });
    expect(findCondition(failed, 'InjectionsCurrent')?.message).toMatch(/^2 workloads send telemetry to an address/);
    const unused = statusOf({ podPolicy: 'working', webhook: { reason: 'ProbeFailed', message: 'no' } }, failed);
    for (const type of ['PodPolicyInstalled', 'WebhookReachable']) expect(findCondition(unused, type)).toBeUndefined();
  });

  it('tells other replicas the version of the Secret, and keeps it until the next one', () => {
    const status = statusOf({ secretVersion: '7' });
    expect([status, statusOf({}, status), statusOf({})].map((each) => each.secretVersion)).toEqual([
      '7',
      '7',
      undefined,
    ]);
  });

  it.each([
    ['is not known yet', undefined, 'False'],
    ['is known in part', true, 'False'],
    ['is known', false, 'True'],
  ])('is rolled out in Pod mode if the number of pods without injection %s: %s', (_case, isPartial, expected) => {
    const queued = statusOf({ summary: { ...noRollout, queued: 1 } });
    const pods =
      isPartial === undefined ? undefined : ({ injected: 1, without: 0, isPartial, policy: 'working' } as const);
    const status = statusOf({ needed: ['PodPolicyInstalled'], summary: { ...noRollout, pods } }, queued);
    expect(findCondition(status, 'RolledOut')?.status).toBe(expected);
  });

  it.each<[string, Partial<StatusInput['progress']>, string]>([
    [
      'shows one pending and one failed workload',
      { pending: 1, failed: 1 },
      '1 workload waits for a change. 1 workload could not be changed and will be retried',
    ],
    [
      'shows pending and failed workloads',
      { pending: 120, failed: 2 },
      '120 workloads wait for a change. 2 workloads could not be changed and will be retried',
    ],
    [
      'counts the workloads that exceed the size limit [F20]',
      { tooLarge: 2 },
      "2 workloads exceed the size limit and will not be changed (see 'lumigo explain')",
    ],
    [
      'counts what another writer undoes',
      { contested: 1, older: 2 },
      "1 workload is changed back by another writer after each change (see 'lumigo explain'). 2 workloads have an injection from another operator version (renewed when the pod template changes, or at once with injection.updateOnUpgrade)",
    ],
    [
      'counts what another writer undoes in several',
      { contested: 2 },
      "2 workloads are changed back by another writer after each change (see 'lumigo explain')",
    ],
    [
      "counts the workloads with another version's injection, which no upgrade renews by itself",
      { older: 1 },
      '1 workload has an injection from another operator version (renewed when the pod template changes, or at once with injection.updateOnUpgrade)',
    ],
  ])('%s', (_title, progress, said) =>
    expect(noted(progress)).toMatchObject({ status: 'True', message: `Lumigo is ready. ${said}` }),
  );

  it('names the first workload that could not be changed, and its problem', () => {
    const failedWith = (problem: string) => {
      const failure = { policy: { kind: 'none' } as const, count: 1, refusedSince: 0, retryAt: 0, problem };
      const firstFailed = { ...observeWorkload(workloadKinds.deployment, { name: 'cart' }), failure };
      return findCondition(statusOf({ progress: { ...noProgress, failed: 2, older: 1, firstFailed } }), 'Active');
    };
    expect(failedWith('denied by a policy')?.message).toMatch(
      /^Lumigo is ready\. 2 workloads could not be changed and will be retried\. .*\. The problem of Deployment\/cart: denied by a policy$/,
    );
    const token = `t_${'a1'.repeat(10)}f`;
    const long = failedWith(`denied\u001b[2J ${token} ${'x'.repeat(100_000)}`)?.message ?? '';
    expect(long).toContain('denied�[2J t_… xxx');
    expect(long.length).toBeLessThan(1_500);
    expect(failedWith(`${guardAnswer} add this`)?.message).toContain('or set guard: Audit');
  });

  it('is equal for equal input, so that nothing is written without a cause [D21]', () => {
    const status = statusOf({});
    const after = (more: Partial<StatusInput>) => findDifference(status, statusOf({ ...more, now: later }, status));
    expect(after({})).toBeUndefined();
    expect(after({ progress: { ...input.progress, pending: 1 } })).toBe('text');
    expect(after({ problem: { reason: 'SecretNotFound', message: 'gone' } })).toBe('state');
    expect(findDifference({}, status)).toBe('state');
  });

  const one = { type: 'Ready', status: 'True', reason: 'Ready', message: 'm', observedGeneration: 2 } as const;
  const condition: Condition = { ...one, lastTransitionTime: later };
  const listed = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'a',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
  };
  const shown: LumigoStatus = {
    conditions: [condition],
    observedGeneration: 2,
    secretVersion: '7',
    injector: { health: 'failing', why: 'w' },
    instrumentedResources: [{ ...listed, state: 'RollingOut', telemetry: 'NothingYet', telemetrySince: later }],
    instrumentedResourcesCount: 1,
  };
  const conditionWith = (more: Partial<Condition>) => ({ conditions: [{ ...condition, ...more }] });
  const listWith = (more: Partial<InstrumentedResource>) => ({
    instrumentedResources: (shown.instrumentedResources ?? []).map((each) => ({ ...each, ...more })),
  });
  it.each<[string | undefined, Partial<LumigoStatus>]>([
    [undefined, conditionWith({ lastTransitionTime: input.now })],
    ['state', { observedGeneration: 3 }],
    ['state', { secretVersion: '8' }],
    ['state', { injector: { health: 'unverified', why: 'w' } }],
    ['state', { conditions: [] }],
    ['state', conditionWith({ type: 'Stalled' })],
    ['state', conditionWith({ status: 'False' })],
    ['state', conditionWith({ reason: 'Checking' })],
    ['state', conditionWith({ observedGeneration: 1 })],
    ['text', conditionWith({ message: 'n' })],
    ['text', { instrumentedResourcesCount: 2 }],
    ['list', listWith({ kind: 'DaemonSet' })],
    ['list', listWith({ name: 'b' })],
    ['list', listWith({ uid: 'v' })],
    ['list', listWith({ resourceVersion: '2' })],
    ['list', listWith({ state: 'Verified' })],
    ['list', listWith({ telemetry: 'Received' })],
    ['list', listWith({ telemetrySince: input.now })],
  ])('differs in its %s with %j', (expected, more) =>
    expect(findDifference(shown, { ...shown, ...more })).toBe(expected),
  );
});

describe('telemetryConditions()', () => {
  const type = 'TelemetryReceived';

  it('are empty until there is something to report', () => {
    expect(telemetryConditions({ received: 0, awaited: 3, silent: [] })).toEqual([]);
  });

  it('are True after the first telemetry', () => {
    expect(telemetryConditions({ received: 1, awaited: 3, silent: [] })).toMatchObject([{ type, status: 'True' }]);
  });

  it('name at most ten silent workloads and what to check', () => {
    const silent = Array.from({ length: 12 }, (_, index) =>
      observeWorkload(workloadKinds.deployment, { namespace: 'shop', name: `w${index}` }),
    );
    const [condition] = telemetryConditions({ received: 5, awaited: 0, silent });
    expect(condition).toMatchObject({ type, status: 'False', reason: 'NothingReceived' });
    const [first] = telemetryConditions({ received: 5, awaited: 0, silent: silent.slice(0, 1) });
    expect(first?.message).toContain('from Deployment/w0. ');
    expect(condition?.message).toMatch(/from Deployment\/w0, .*Deployment\/w9, and 2 more\. .*LD_PRELOAD.*token/);
  });
});
