import { describe, expect, it } from '@jest/globals';
import { active, activePolicy, tracing } from '../../sandbox/testing/injection.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { WorkloadState } from '../rollout/workload-state.ts';
import { observeWorkload } from './workload-store.ts';
import { labels, workloadKinds } from '../contract.ts';
import type { ObservedWorkload } from './observed.ts';
import { noTelemetry, planTelemetry, summarizeTelemetry } from './plan-telemetry.ts';

const now = { ms: 5_000, iso: '2026-01-01T12:00:00Z' };
const earlier = '2026-01-01T11:00:01Z';
const HOUR_MS = 3_600_000;

const neither = activePolicy({ ...tracing, traces: false });
const deleting: NamespacePolicy = { kind: 'deleting', lumigo: 'l', remove: true };
const none: NamespacePolicy = { kind: 'none' };

const queued = { kind: 'queued' } as WorkloadState;
const rolling = { kind: 'rolling' } as WorkloadState;
const verified = { kind: 'verified' } as WorkloadState;
const nothingYet = { telemetry: 'NothingYet', telemetrySince: undefined } as const;
const sinceNow = { telemetry: 'NothingYet', telemetrySince: now.iso } as const;
const unknown = {};
const { cronJob, deployment, job, replicaSet } = workloadKinds;

function workload(name: string, more: Partial<ObservedWorkload> = {}): ObservedWorkload {
  const metadata = { namespace: 'shop', name, uid: name, labels: { [labels.autoTrace]: 'lumigo-operator.v1' } };
  return { ...observeWorkload(deployment, metadata), ...more };
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** Returns the fact about the last workload. */
function after(workloads: readonly ObservedWorkload[], policy: NamespacePolicy, received: readonly string[] = []) {
  const last = workloads.at(-1);
  const changed = planTelemetry(workloads, policy, new Set(received), now).find((each) => each.workload === last);
  const { telemetry, telemetrySince } = changed ?? last ?? {};
  return { telemetry, telemetrySince };
}

describe('planTelemetry()', () => {
  const received = { telemetry: 'Received', telemetrySince: earlier } as const;
  const since = { telemetry: 'NothingYet', telemetrySince: earlier } as const;
  it.each<[string, Partial<ObservedWorkload>, NamespacePolicy, Partial<ObservedWorkload>]>([
    ['nothing yet before its pods run', { state: queued }, active, nothingYet],
    ['nothing since its pods run', { state: verified }, active, sinceNow],
    ['no time for a CronJob', { kind: cronJob, state: verified }, active, nothingYet],
    ['no time for a Job', { kind: job, state: verified }, active, nothingYet],
    ['the time once its pods run', { state: verified, ...nothingYet }, active, sinceNow],
    ['the time also for a ReplicaSet', { kind: replicaSet, state: verified }, active, sinceNow],
    ['the same time while they run', { state: verified, ...since }, active, since],
    ['the same time in a later rollout', { state: rolling, ...since }, active, since],
    ['the first time once received', { state: verified, ...received }, active, received],
    ['nothing without the injection', { label: undefined, ...received }, active, unknown],
    ['nothing for another proxy', { elsewhere: 'http://other', state: verified }, active, unknown],
    ['nothing without traces and logs', { state: verified }, neither, unknown],
    [
      'nothing yet with logs alone',
      { state: queued },
      activePolicy({ ...tracing, traces: false, logs: true }),
      nothingYet,
    ],
    ['what is known during a removal', received, deleting, received],
    ['nothing after a removal', { label: undefined, ...since }, none, unknown],
  ])('tells %s', (_case, more, policy, expected) => {
    expect(after([workload('cart', more)], policy)).toEqual(expected);
  });

  it.each([unknown, nothingYet, since])('tells the time of the first telemetry after %j', (before) => {
    expect(after([workload('cart', before)], active, ['cart'])).toEqual({
      telemetry: 'Received',
      telemetrySince: now.iso,
    });
  });

  it('tells nothing about a workload from what others sent', () => {
    expect(after([workload('cart')], active, ['car', 'pay'])).toEqual(nothingYet);
  });

  it.each([
    ['nothing yet while every workload that sends is listed', 1_999, 18_000, nothingYet],
    ['nothing in a namespace at its limit, because the list may lack the workload', 2_000, 0, unknown],
    ['nothing in any namespace while the list is full', 1, 19_999, unknown],
  ])('tells %s', (_case, senders, elsewhere, expected) => {
    const names = numbered('w', senders);
    const workloads = [...names, 'silent'].map((name) => workload(name));
    expect(after(workloads, active, [...names, ...numbered('other', elsewhere)])).toEqual(expected);
  });
});

describe('summarizeTelemetry()', () => {
  const getSummary = (telemetry: Partial<ObservedWorkload>, expectedWithinMs = HOUR_MS) =>
    summarizeTelemetry([workload('cart', telemetry)], expectedWithinMs, now);

  it('counts a workload as silent after the time of the setting, and wakes then', () => {
    const awaited = getSummary({ telemetry: 'NothingYet', telemetrySince: earlier });
    expect(awaited).toEqual({ summary: { received: 0, awaited: 1, silent: [] }, wakeAt: now.ms + 1_000 });
    const atLast = getSummary({ telemetry: 'NothingYet', telemetrySince: earlier }, HOUR_MS - 999);
    expect(atLast).toMatchObject({ summary: { awaited: 1, silent: [] }, wakeAt: now.ms + 1 });
    const silent = getSummary({ telemetry: 'NothingYet', telemetrySince: earlier }, HOUR_MS - 1_000);
    expect(silent).toMatchObject({ summary: { awaited: 0, silent: [{ name: 'cart' }] }, wakeAt: Infinity });
  });

  it('never counts a workload as silent that is being deleted, does not run yet, or sent something', () => {
    expect(getSummary({ ...nothingYet, telemetrySince: earlier, deleting: true }, 0).summary).toEqual(noTelemetry);
    expect(getSummary(nothingYet, 0)).toMatchObject({ summary: { awaited: 1, silent: [] }, wakeAt: Infinity });
    expect(getSummary({ telemetry: 'Received', telemetrySince: earlier }, 0).summary).toEqual({
      received: 1,
      awaited: 0,
      silent: [],
    });
  });
});
