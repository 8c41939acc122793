import { describe, expect, it } from '@jest/globals';
import { injector } from '../../sandbox/testing/injection.ts';
import { workloadOf, type WorkloadOptions } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds } from '../contract.ts';
import { decide, type DecisionInput } from './decide.ts';
import { policyOf } from './policy.ts';
import { stampOf } from './stamp.ts';
import type { Workload } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { InjectorSettings, NamespacePolicy } from './types.ts';
import { templateOf } from './workload.ts';

/** What becomes of an injection whose Lumigo goes: the stamp says whether it stays. */

const tracing = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false };
const active = (remove: boolean): NamespacePolicy => ({
  ...{ state: 'active', lumigo: 'lumigo', tracing, createdAt: '', injectExisting: true },
  remove,
});
const none: NamespacePolicy = { state: 'none' };

const judge = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decide({
    ...{ workload, operation: 'RECONCILE', policy: active(true), injector, by: 'controller' },
    now: '2026-06-01T00:00:00.000Z',
    ...more,
  });
const make = (options: WorkloadOptions = {}, kind = workloadKinds.deployment): Workload =>
  workloadOf(kind, 'shop', 'app', options) as unknown as Workload;

function instrumented(remove: boolean, options: WorkloadOptions = {}): Workload {
  const decision = judge(make(options), { operation: 'CREATE', policy: active(remove), by: 'webhook' });
  if (decision.action !== 'inject') throw new Error(decision.message);
  return decision.workload;
}

describe('whether an injection stays when its Lumigo goes', () => {
  it('stands in its stamp from the start', () => {
    expect(stampOf(instrumented(true).metadata)?.keep).toBeUndefined();
    expect(stampOf(instrumented(false).metadata)?.keep).toBe(true);
    expect(instrumented(false).metadata.annotations?.[annotations.instrumentation]).toMatch(/ logs=false keep$/);
  });

  it.each([true, false])(
    'changes with the Lumigo, by the metadata alone and with nothing to tell (remove: %s)',
    (remove) => {
      const before = instrumented(!remove);
      const decision = judge(before, { policy: active(remove) });
      expect(decision).toMatchObject({ action: 'inject', tried: 'nothing', code: 'relabelled' });
      if (decision.action !== 'inject') return;
      expect(templateOf(decision.workload)).toBe(templateOf(before));
      expect(decision.workload).toEqual({ ...before, metadata: instrumented(remove).metadata });
      expect(judge(decision.workload, { policy: active(remove) })).toMatchObject({
        action: 'none',
        code: 'up-to-date',
      });
    },
  );

  it.each(['deleting', 'disabled'] as const)('is noted while the Lumigo is %s, once', (state) => {
    const before = instrumented(true, { labels: { [labels.autoTrace]: 'x' } });
    const policy: NamespacePolicy = { state, lumigo: 'lumigo', remove: false };
    const decision = judge(before, { policy });
    expect(decision).toMatchObject({ action: 'inject', tried: 'nothing', code: 'kept' });
    if (decision.action !== 'inject') return;
    expect(templateOf(decision.workload)).toBe(templateOf(before));
    expect(stampOf(decision.workload.metadata)).toEqual({ ...stampOf(before.metadata), keep: true });
    expect(judge(decision.workload, { policy })).toMatchObject({ action: 'none' });
    expect(judge(before, { policy, operation: 'UPDATE', old: before })).toMatchObject({ action: 'none' });
  });

  it('comes from the Lumigo', () => {
    const lumigo = (remove?: boolean): LumigoResource => ({
      ...{ apiVersion: 'operator.lumigo.io/v1alpha1', kind: 'Lumigo' },
      metadata: { namespace: 'shop', name: 'l', uid: 'u' },
      spec: {
        lumigoToken: { secretRef: { name: 's', key: 'k' } },
        ...(remove === undefined ? {} : { tracing: { injection: { removeLumigoFromResourcesOnDeletion: remove } } }),
      },
      status: {
        conditions: [{ type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' }],
      },
    });
    for (const remove of [undefined, true, false])
      expect(policyOf([lumigo(remove)])).toMatchObject({ state: 'active', remove: remove ?? true });
  });
});

describe('what a Lumigo that is gone has left behind', () => {
  it('goes, and the reason is given', () => {
    const decision = judge(instrumented(true), { policy: none });
    expect(decision).toMatchObject({ action: 'remove' });
    expect(decision.message).toContain("There is no Lumigo resource in the 'shop' namespace any more");
    if (decision.action === 'remove') expect(decision.workload).toEqual(make());
  });

  it.each<readonly [string, Workload, Partial<DecisionInput>]>([
    ['its stamp says so', instrumented(false), {}],
    ['a user changes it: that is the reconciler’s to do', instrumented(true), { operation: 'UPDATE' }],
    ['there is no stamp: the original operator left none', withoutStamp(instrumented(true)), {}],
    ['nothing of ours is in it', make(), {}],
    ['it is a Job, of which the end of its Lumigo has told', { ...instrumented(true), ...job() }, {}],
  ])('stays where %s', (_case, workload, more) => {
    expect(judge(workload, { policy: none, ...more })).toMatchObject({ action: 'none', code: 'no-lumigo' });
  });

  it('stays where it asks for itself, and goes where it has ceased to', () => {
    const own = { labels: { [labels.autoTrace]: 'true' } };
    const asking = judge(make(own), { operation: 'CREATE', policy: none });
    if (asking.action !== 'inject') throw new Error(asking.message);
    expect(judge(asking.workload, { policy: none })).toMatchObject({ action: 'none', code: 'up-to-date' });
    const { [labels.autoTrace]: _label, ...rest } = asking.workload.metadata.labels ?? {};
    const ceased = { ...asking.workload, metadata: { ...asking.workload.metadata, labels: rest } };
    expect(judge(ceased, { policy: none })).toMatchObject({ action: 'remove' });
  });
});

function withoutStamp(workload: Workload): Workload {
  return { ...workload, metadata: { ...workload.metadata, annotations: {} } };
}

function job(): object {
  const { apiVersion, kind } = workloadKinds.job;
  return { apiVersion, kind };
}

describe('F10: an injection that sends to a telemetry proxy of another installation', () => {
  const moved: InjectorSettings = { ...injector, endpoint: 'http://elsewhere' };

  it('is left as it is, and the decision names it', () => {
    const before = instrumented(true);
    expect(judge(before, { injector: moved })).toMatchObject({ code: 'up-to-date', elsewhere: 'http://proxy' });
    expect(judge(before, { injector: moved, policy: active(false) })).toMatchObject({
      ...{ code: 'relabelled', tried: 'nothing', elsewhere: 'http://proxy' },
    });
    expect(judge(before)).not.toHaveProperty('elsewhere');
    expect(judge(before, { injector: moved, renew: true })).not.toHaveProperty('elsewhere');
  });

  it('is known by its variables where there is no record', () => {
    const before = instrumented(true);
    const text = JSON.stringify(before).replace(/"operator\.lumigo\.io\/injection":"(\\.|[^"\\])*",?/, '');
    expect(text).not.toContain('operator.lumigo.io/injection');
    expect(judge(JSON.parse(text) as Workload, { injector: moved })).toMatchObject({ elsewhere: 'http://proxy' });
  });
});
