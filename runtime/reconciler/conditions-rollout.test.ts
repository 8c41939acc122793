import { describe, expect, it } from '@jest/globals';
import { workloadKinds } from '../contract.ts';
import type { WorkloadState } from '../rollout/workload-state.ts';
import type { ObservedWorkload } from './observed.ts';
import { rolloutCondition } from './conditions-rollout.ts';
import { noRollout, type RolloutSummary } from './plan-rollout.ts';

const risk = { rank: 0, pods: 2 } as const;
const named = (name: string, state?: WorkloadState) =>
  ({ kind: workloadKinds.deployment, namespace: 'shop', name, state }) as unknown as ObservedWorkload;
const revertedFor = (message: string): WorkloadState => ({
  kind: 'reverted',
  evidence: { cause: 'Crash', message },
  risk,
  attempt: 1,
  wakeAt: 0,
});
const reverting: WorkloadState = {
  kind: 'reverting',
  evidence: { cause: 'Crash', message: 'boom' },
  template: '',
  attempt: 1,
  wakeAt: 0,
};
const reverted = [named('a', revertedFor("container 'app': boom"))] as RolloutSummary['reverted'];
const job = { ...named('j', revertedFor('boom')), kind: workloadKinds.job } as RolloutSummary['reverted'][number];
const cronJob = { ...job, name: 'c', kind: workloadKinds.cronJob };
const failing = { ...cronJob, state: reverting } as RolloutSummary['reverted'][number];
const paused: WorkloadState = { kind: 'blocked', reason: 'Paused', risk, attempt: 0, wakeAt: 0 };
const blocked = [named('b', paused)] as RolloutSummary['blocked'];
const ten = Array.from({ length: 10 }, () => blocked).flat();
const contested = [named('b', { ...paused, reason: 'Contested' })] as RolloutSummary['blocked'];
const refused = [named('a', reverting)] as RolloutSummary['reverted'];

const podsWithout = (without: number, isPartial = false) =>
  ({ injected: 0, without, isPartial, policy: 'working' }) as const;

const halted = { type: 'RolledOut', status: 'False', reason: 'Halted', message: 'two were reverted' } as const;

describe('the condition RolledOut', () => {
  it.each<[string, Partial<RolloutSummary>, string]>([
    ['Halted', { halted: 'two were reverted', queued: 3, reverted }, 'The rollout is halted: two were reverted'],
    [
      'Progressing',
      { underWay: [named('c')], queued: 3, reverted },
      'In progress: Deployment/c. 3 workloads are queued',
    ],
    ['Reverted', { reverted, blocked }, "Deployment/a was reverted (Crash): container 'app': boom"],
    ['Reverted', { reverted }, 'kubectl -n shop annotate --overwrite deployments.apps a lumigo.retry="$(date)"'],
    ['Reverted', { reverted, strategy: 'manual' }, 'with a later change of its pod template, or when you run'],
    ['Reverted', { reverted, strategy: 'on-next-change' }, 'or with a later change of its pod template'],
    [
      'Reverted',
      { reverted: [job, ...reverted] },
      'Job/j fails with the injection (Crash): boom. A Job cannot be changed',
    ],
    ['Reverted', { reverted: [job, ...reverted] }, 'deployments.apps a lumigo.retry'],
    [
      'Reverted',
      { reverted: [cronJob] },
      'boom. Jobs that it started before keep the injection. Delete those that do not end. The operator tries',
    ],
    ['Blocked', { blocked, left: 1 }, 'The operator waits because Deployment/b is paused'],
    ['Blocked', { blocked: [...ten, ...contested] }, 'Deployment/b is changed back by another writer after each'],
    ['Reverted', { reverted: refused }, 'Deployment/a is not reverted yet (Crash): boom'],
    ['Unready', { unready: [named('d')], left: 2 }, 'Deployment/d has an older injection, and its pods do not all run'],
    ['PodsWithoutInjection', { pods: podsWithout(1) }, '1 pod runs without the injection'],
    ['PodsWithoutInjection', { pods: podsWithout(2) }, '2 pods run without the injection'],
    ['PodsWithoutInjection', { pods: podsWithout(2, true) }, 'At least 2 pods run without the injection'],
    ['PodsWithoutInjection', { pods: podsWithout(2) }, "'kubectl rollout restart' for their workloads"],
    ['LeftForNow', { left: 1 }, '1 workload is not changed until its pod template changes'],
  ])('is False for the reason %s', (reason, summary, said) => {
    const condition = rolloutCondition({ ...noRollout, ...summary }, undefined, true);
    expect(condition).toMatchObject({ status: 'False', reason });
    expect(condition?.message).toContain(said);
  });

  it('says nothing about what does not exist', () => {
    const condition = rolloutCondition({ ...noRollout, blocked }, undefined, true);
    expect(condition?.message).toBe('The operator waits because Deployment/b is paused');
  });

  it('advises no deletion of Jobs while their CronJob starts further ones with the injection', () => {
    const condition = rolloutCondition({ ...noRollout, reverted: [failing] }, undefined, true);
    expect(condition?.message).toBe('CronJob/c is not reverted yet (Crash): boom');
  });

  it('names no command that alone retries nothing', () => {
    const condition = rolloutCondition({ ...noRollout, reverted, strategy: 'on-next-change' }, undefined, true);
    expect(condition?.message).not.toContain('kubectl');
  });

  it('exists from the first rollout on, and stays within its limit, whatever annotations say', () => {
    expect(rolloutCondition(noRollout, undefined, true)).toBeUndefined();
    expect(rolloutCondition(noRollout, halted, true)).toMatchObject({ status: 'True', reason: 'Complete' });
    const complete = [undefined, podsWithout(0)].map(
      (pods) => rolloutCondition({ ...noRollout, pods }, halted, true)?.message,
    );
    // No leader reads the status of a workload without end, so none can say that it still runs.
    expect(complete).toEqual([
      'All workloads that can be instrumented are instrumented',
      'All pods that can be injected run with the injection',
    ]);
    const many = Array.from({ length: 500 }, (_, index) => named(`w${index}`, revertedFor('x'.repeat(1_000))));
    const summary = { ...noRollout, reverted: many as RolloutSummary['reverted'], underWay: many };
    const message = rolloutCondition(summary, undefined, true)?.message;
    expect(message?.length).toBeLessThan(32_768);
    expect(message).toMatch(/\. And 490 more\. The operator tries .* Deployment\/w9, and 490 more$/s);
  });

  it('keeps its value until a new leader has checked each workload', () => {
    expect(rolloutCondition(noRollout, halted, false)).toEqual(halted);
    expect(rolloutCondition({ ...noRollout, queued: 1 }, halted, false)).toMatchObject({ reason: 'Progressing' });
  });
});
