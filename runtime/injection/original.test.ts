import { describe, expect, it } from '@jest/globals';
import { injector } from '../../sandbox/testing/injection.ts';
import { instrumentedByOriginal, originalLabel } from '../../sandbox/original/injected.ts';
import { mutableKinds, workloadOf } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds, type WorkloadKind } from '../contract.ts';
import { decide, type DecisionInput } from './decide.ts';
import { optInOf, stampOf } from './stamp.ts';
import type { Workload } from '../api/objects.ts';
import { templateOf } from './workload.ts';

/** What the original had instrumented by a label alone, replayed through the one decision. */
const plain = (kind: WorkloadKind, own: Record<string, string> = {}): Workload =>
  workloadOf(kind, 'shop', 'app', { labels: own }) as unknown as Workload;
const found = (kind: WorkloadKind, own: Record<string, string> = {}): Workload =>
  instrumentedByOriginal(plain(kind, own));

const judge = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decide({
    workload,
    operation: 'RECONCILE',
    policy: { state: 'none' },
    injector,
    now: '2026-06-01T00:00:00.000Z',
    by: 'controller',
    ...more,
  });

function adopted(workload: Workload, more: Partial<DecisionInput> = {}): Workload {
  const decision = judge(workload, more);
  if (decision.action !== 'inject') throw new Error(decision.message);
  return decision.workload;
}

const { deployment } = workloadKinds;

describe.each(mutableKinds)('F50: a %s that had opted in by its label, without a Lumigo', (_name, kind) => {
  it('is adopted as it stands: no pod restarts, and there is nothing to tell', () => {
    const workload = found(kind);
    expect(judge(workload)).toMatchObject({ action: 'inject', tried: 'nothing' });
    expect(templateOf(adopted(workload))).toBe(templateOf(workload));
    expect(adopted(workload).metadata.annotations?.[annotations.instrumentation]).toMatch(/^adopted .* label=true$/);
    expect(judge(adopted(workload))).toMatchObject({ action: 'none', code: 'up-to-date' });
  });

  it('is one whose token is let in from then on', () => {
    expect(optInOf(found(kind).metadata)).toBeUndefined();
    expect(optInOf(adopted(found(kind)).metadata)).toMatchObject({ secretName: 'lumigo-credentials' });
  });

  it('is renewed where the settings ask for it', () => {
    const renewed = adopted(found(kind), { renew: true });
    expect(templateOf(renewed)?.spec.initContainers).toMatchObject([{ image: 'autotrace:2' }]);
    expect(stampOf(renewed.metadata)?.userLabel).toBe('true');
  });

  it('comes out whole when its user opts out', () => {
    const optedOut = adopted(found(kind));
    const workload = { ...optedOut, metadata: { ...optedOut.metadata, labels: { [labels.autoTrace]: 'false' } } };
    const decision = judge(workload, { operation: 'UPDATE', old: optedOut, by: 'webhook' });
    expect(decision).toMatchObject({ action: 'remove' });
    if (decision.action === 'remove') expect(templateOf(decision.workload)).toEqual(templateOf(plain(kind)));
  });
});

describe('F50: an injection of the original', () => {
  it('without a Lumigo has the settings of its labels', () => {
    const own = { [labels.enableLogs]: 'true' };
    const workload = instrumentedByOriginal(plain(deployment, own), { logs: true });
    expect(stampOf(adopted(workload).metadata)?.tracing).toMatchObject({ logs: true });
    expect(templateOf(adopted(workload))).toBe(templateOf(workload));
  });

  it('is adopted by the webhook as well, which may be faster', () => {
    const workload = found(deployment);
    const scaled = { ...workload, spec: { ...(workload['spec'] as object), replicas: 5 } };
    const changed = adopted(scaled, { operation: 'UPDATE', old: workload, by: 'webhook' });
    expect(stampOf(changed.metadata)?.userLabel).toBe('true');
    expect(templateOf(changed)).toEqual(templateOf(workload));
  });

  it('of a Lumigo is no opt-in, and goes with its Lumigo', () => {
    const policy = { state: 'deleting', lumigo: 'lumigo', remove: true } as const;
    const decision = judge(found(deployment), { policy });
    expect(decision).toMatchObject({ action: 'remove' });
    if (decision.action === 'remove')
      expect(decision.workload.metadata.labels).toEqual(plain(deployment).metadata.labels);
  });

  it('that it took out may have left a word to itself in the label, which nobody gets back', () => {
    const workload = plain(deployment, { [labels.autoTrace]: 'skip-next-injector' });
    const policy = {
      state: 'active',
      lumigo: 'lumigo',
      tracing: { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false },
      ...{ createdAt: '', injectExisting: true, remove: true },
    } as const;
    expect(stampOf(adopted(workload, { policy }).metadata)?.userLabel).toBeUndefined();
  });

  it('has the label of its release', () =>
    expect(found(deployment).metadata.labels).toMatchObject({ [labels.autoTrace]: originalLabel }));
});
