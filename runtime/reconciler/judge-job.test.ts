import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { active, failedIn, instrumented, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { none } from '../injection/decision.ts';
import { decideRevert } from '../injection/decide-revert.ts';
import { look, type Look, type PodStatus } from '../rollout/evidence.ts';
import type { ChangeResult } from './facts.ts';
import { noTally } from '../rollout/injector-health.ts';
import { WorkloadJudge } from './judge-workload.ts';
import type { ObservedWorkload } from './observed.ts';
import { planWorkloads } from './plan-workloads.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { Rollouts } from './rollouts.ts';
import { WorkloadStore } from './workload-store.ts';

const { job } = workloadKinds;
/** The time of the injections that the test helpers make. */
const START = Date.parse('2026-06-01T00:00:00Z');
const SECOND = 1_000;
const MINUTE = 60_000;

const pending: PodStatus = { phase: 'Pending' };
const withInjector = (state: object): PodStatus => ({ initContainerStatuses: [{ name: 'lumigo-injector', state }] });
const noImage = withInjector({ waiting: { reason: 'ImagePullBackOff' } });
const ran = withInjector({ terminated: { exitCode: 0 } });

/** Plans and judges the Job `a` and further ones as the reconciler does, with pods by hand. Counts the looks at pods. */
class Bench {
  /** Undefined: its controller has not made any yet. */
  pods: PodStatus | undefined = pending;
  /** The status of each Job. */
  status: object | undefined;
  looks = 0;
  private readonly store = new WorkloadStore();
  private readonly rollouts: Rollouts;
  private readonly judge: WorkloadJudge;

  constructor() {
    const config = {
      version: '2.0.0',
      rolloutStrategy: 'progressive',
      rolloutSoakSeconds: 10,
      rolloutDeadlineSeconds: 300,
      rolloutLookSeconds: 20,
      rolloutLargestBatch: 50,
      injectorImage: 'autotrace:2',
    };
    const lookAt = (seen: Workload): Promise<Look> => {
      this.looks += 1;
      const pod = { name: 'p', isReady: false, injected: new Set(['app']) };
      return Promise.resolve(this.pods === undefined ? look([], seen) : look([{ ...pod, status: this.pods }]));
    };
    const term = {
      api: { lookAt },
      store: this.store,
      config,
      signal: new AbortController().signal,
      enqueue: () => undefined,
      lumigoes: { namespaces: () => [] },
    } as unknown as ReconcilerContext;
    this.rollouts = new Rollouts(term);
    this.judge = new WorkloadJudge(term, this.rollouts);
    this.create('a');
  }

  create(name: string): void {
    this.created.set(name, new Date().toISOString());
    const { metadata } = this.toWorkload(name);
    this.store.upsert(job, metadata);
  }

  delete(name: string): void {
    this.store.delete({ kind: job, namespace: 'shop', name, uid: name });
  }

  state = (name: string) => this.store.get(job, 'shop', name)?.state;

  runElsewhere(): void {
    const tally = { ...noTally, verified: 1, proven: 1 };
    this.rollouts.act('elsewhere', { stateChanges: [], wantsSlot: false, tally } as never);
  }

  /** Returns the health in the report to the webhook. */
  plan(): string | undefined {
    const rollout = this.rollouts.observe('shop');
    const observed = { policy: active, workloads: this.store.in('shop'), rollout };
    const planned = planWorkloads(observed, { ms: performance.now(), iso: '' });
    this.rollouts.act('shop', planned.rollout);
    this.changes = planned.changes.map(({ workload, task }) => ({ workload, isRevert: task === 'revert' }));
    return planned.rollout.report?.health;
  }

  private readonly created = new Map<string, string>();
  private changes: readonly { readonly workload: ObservedWorkload; readonly isRevert: boolean }[] = [];

  /** Carries out what is planned, until nothing is. */
  async work(): Promise<string | undefined> {
    for (this.plan(); ; this.plan()) {
      // Another plan follows a change of the cluster's health.
      if (this.changes.length === 0) return this.plan();
      for (const { workload: known, isRevert } of this.changes) {
        const seen = this.toWorkload(known.name);
        const failed = isRevert ? failedIn(seen) : undefined;
        const decided = decideRevert({ workload: seen, injector: { image: 'autotrace:2' }, failed } as never);
        if (decided !== undefined && decided.kind !== 'none') throw new Error('a Job cannot be changed');
        const result: ChangeResult = { kind: 'left', workload: seen, decision: decided ?? none('up-to-date', seen) };
        this.store.update(known, { checkedUnder: active });
        await this.judge.observe(known, result);
      }
    }
  }

  async after(ms: number): Promise<string | undefined> {
    jest.advanceTimersByTime(ms);
    return this.work();
  }

  private toWorkload(name: string): Workload {
    const { metadata, ...rest } = instrumented(made({}, job), { now: this.created.get(name) ?? '' });
    return { ...rest, status: this.status, metadata: { ...metadata, name, uid: name, resourceVersion: '1' } };
  }
}

describe('an injected Job', () => {
  beforeEach(() => void jest.useFakeTimers({ now: START }));
  afterEach(() => void jest.useRealTimers());

  it('is looked at, and if its injector fails, new workloads are not injected for ten minutes', async () => {
    const bench = new Bench();
    bench.pods = noImage;
    expect(await bench.work()).toBe('unverified');
    expect(await bench.after(10 * SECOND)).toBe('unverified');
    expect(await bench.after(20 * SECOND)).toBe('failing');
    expect(bench.state('a')).toMatchObject({ kind: 'reverted', isKept: true, evidence: { cause: 'InjectorImage' } });
    expect(await bench.after(9 * MINUTE)).toBe('failing');
    expect(await bench.after(MINUTE)).toBeUndefined();
    expect([bench.state('a'), bench.looks]).toEqual([undefined, 2]);
    bench.create('b');
    expect(await bench.work()).toBe('unverified');
    expect(bench.state('a')).toBeUndefined();
  });

  it('is looked at while its pods are pending, until the deadline', async () => {
    const bench = new Bench();
    await bench.work();
    for (let passed = 0; passed < 290; passed += 10) expect(await bench.after(10 * SECOND)).toBe('unverified');
    for (let passed = 0; passed < 100; passed += 10) await bench.after(10 * SECOND);
    expect(await bench.work()).toBeUndefined();
    expect([bench.state('a'), bench.looks]).toMatchObject([{ kind: 'untested', wakeAt: Infinity }, 16]);
  });

  it('is not looked at beside another one, nor after one whose injector ran', async () => {
    const bench = new Bench();
    await bench.work();
    bench.create('b');
    await bench.work();
    expect(bench.state('b')).toBeUndefined();
    bench.pods = ran;
    expect(await bench.after(10 * SECOND)).toBeUndefined();
    expect(bench.state('a')).toMatchObject({ kind: 'verified' });
    bench.create('c');
    expect(await bench.work()).toBeUndefined();
    expect([bench.state('b'), bench.state('c'), bench.looks]).toEqual([undefined, undefined, 1]);
  });

  it('is judged also if its controller makes its pods late, and delays no other one until then', async () => {
    const bench = new Bench();
    bench.pods = undefined;
    expect(await bench.work()).toBe('unverified');
    expect(await bench.after(10 * SECOND)).toBeUndefined();
    bench.pods = noImage;
    for (let passed = 0; passed < 60; passed += 10) await bench.after(10 * SECOND);
    expect(await bench.work()).toBe('failing');
    expect(bench.state('a')).toMatchObject({ kind: 'reverted', evidence: { cause: 'InjectorImage' } });
  });

  it('is reverted at the deadline if the API server refuses its pods, and a second one halts', async () => {
    const bench = new Bench();
    bench.pods = undefined;
    bench.status = { startTime: '2026-06-01T00:00:00Z', ready: 0 };
    await bench.work();
    for (let passed = 0; passed < 300; passed += 10) expect(await bench.after(10 * SECOND)).toBe('unverified');
    await bench.after(10 * SECOND);
    expect(bench.state('a')).toMatchObject({ kind: 'reverted', isKept: true, evidence: { cause: 'PodsRefused' } });
    bench.create('b');
    for (let passed = 0; passed < 330; passed += 10) await bench.after(10 * SECOND);
    expect(await bench.work()).toBe('failing');
    const message = expect.stringContaining('Job/b');
    expect(bench.state('b')).toMatchObject({ kind: 'reverted', evidence: { cause: 'PodsRefused', message } });
  });

  it('is the only first one of those that are created together', async () => {
    const bench = new Bench();
    for (const name of ['b', 'c']) bench.create(name);
    await bench.work();
    await bench.after(10 * SECOND);
    expect(bench.looks).toBe(1);
  });

  it('is judged also if the injector runs in other namespaces, and then delays no other one', async () => {
    const bench = new Bench();
    bench.runElsewhere();
    bench.pods = noImage;
    expect(await bench.work()).toBeUndefined();
    expect(await bench.after(10 * SECOND)).toBeUndefined();
    expect(await bench.after(20 * SECOND)).toBe('failing');
    expect(bench.state('a')).toMatchObject({ kind: 'reverted', evidence: { cause: 'InjectorImage' } });
  });

  it.each([true, false])('is remembered for an hour after its pods ran (deleted: %s)', async (isDeleted) => {
    const bench = new Bench();
    bench.pods = ran;
    await bench.work();
    expect(await bench.after(10 * SECOND)).toBeUndefined();
    if (isDeleted) bench.delete('a');
    await bench.after(59 * MINUTE);
    bench.create('b');
    expect(await bench.work()).toBeUndefined();
    expect(bench.state('b')).toBeUndefined();
    await bench.after(MINUTE);
    bench.create('c');
    expect(await bench.work()).toBe('unverified');
  });
});
