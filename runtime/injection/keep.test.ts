import { describe, expect, it } from '@jest/globals';
import {
  active,
  changed,
  decided,
  injector,
  instrumented as byWebhook,
  made,
  withMetadata,
} from '../../sandbox/testing/injection.ts';
import type { WorkloadOptions } from '../../sandbox/testing/workloads.ts';
import { annotations, labels } from '../contract.ts';
import type { DecisionInput } from './decide.ts';
import { getInjectionStatus } from './injection-status.ts';
import type { InjectorSettings, NamespacePolicy } from './types.ts';
import type { Workload } from '../api/objects.ts';
import { toTemplate } from './workload.ts';

const activeThat = (remove: boolean): NamespacePolicy => ({ ...active, remove });
const none: NamespacePolicy = { kind: 'none' };
const instrumented = (remove: boolean, options: WorkloadOptions = {}) =>
  byWebhook(made(options), { policy: activeThat(remove) });

describe('the decision if an injection stays after its Lumigo is deleted', () => {
  it('is in its injection status from the start', () => {
    expect(getInjectionStatus(instrumented(true).metadata)?.keep).toBeUndefined();
    expect(getInjectionStatus(instrumented(false).metadata)?.keep).toBe(true);
    expect(instrumented(false).metadata.annotations?.[annotations.instrumentation]).toMatch(/ logs=false keep$/);
  });

  it.each([true, false])(
    'changes with the Lumigo, in the metadata alone and without an event (remove: %s)',
    (remove) => {
      const before = instrumented(!remove);
      const decision = decided(before, { policy: activeThat(remove) });
      expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'relabelled' });
      expect(toTemplate(changed(decision))).toBe(toTemplate(before));
      expect(changed(decision)).toEqual({ ...before, metadata: instrumented(remove).metadata });
      expect(decided(changed(decision), { policy: activeThat(remove) })).toMatchObject({
        kind: 'none',
        code: 'up-to-date',
      });
    },
  );

  it('is not stored without a label or an injection status', () => {
    const policy: NamespacePolicy = { kind: 'disabled', lumigo: 'lumigo', remove: false };
    for (const lost of [{ labels: {} }, { annotations: {} }])
      expect(decided(withMetadata(instrumented(true), lost), { policy })).toMatchObject({ kind: 'none' });
  });

  it.each(['deleting', 'disabled'] as const)('is stored once while the Lumigo is %s', (state) => {
    const before = instrumented(true, { labels: { [labels.autoTrace]: 'x' } });
    const policy: NamespacePolicy = { kind: state, lumigo: 'lumigo', remove: false };
    const decision = decided(before, { policy });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'kept' });
    expect(toTemplate(changed(decision))).toBe(toTemplate(before));
    expect(getInjectionStatus(changed(decision).metadata)).toEqual({
      ...getInjectionStatus(before.metadata),
      keep: true,
    });
    expect(decided(changed(decision), { policy })).toMatchObject({ kind: 'none' });
    expect(decided(before, { policy, operation: 'UPDATE', old: before })).toMatchObject({ kind: 'none' });
  });
});

describe('an injection without a Lumigo', () => {
  it('is removed, with the reason', () => {
    const decision = decided(instrumented(true), { policy: none });
    expect(decision).toMatchObject({ kind: 'remove' });
    expect(decision.message).toContain("There is no Lumigo resource in the 'shop' namespace any more");
    expect(changed(decision)).toEqual(made());
  });

  it.each<readonly [string, Workload, Partial<DecisionInput>]>([
    ['its injection status says so', instrumented(false), {}],
    ['a user changes it: that is the reconciler’s to do', instrumented(true), { operation: 'UPDATE' }],
    [
      'there is no injection status: the original operator left none',
      withMetadata(instrumented(true), { annotations: {} }),
      {},
    ],
    ['nothing of ours is in it', made(), {}],
    [
      'it is a Job, of which the end of its Lumigo has told',
      { ...instrumented(true), apiVersion: 'batch/v1', kind: 'Job' },
      {},
    ],
  ])('stays if %s', (_case, workload, more) => {
    expect(decided(workload, { policy: none, ...more })).toMatchObject({ kind: 'none', code: 'no-lumigo' });
  });

  it('stays while its workload opts in, and is removed afterwards', () => {
    const own = { labels: { [labels.autoTrace]: 'true' } };
    const asking = byWebhook(made(own), { policy: none });
    expect(decided(asking, { policy: none })).toMatchObject({ kind: 'none', code: 'up-to-date' });
    const ceased = withMetadata(asking, { labels: {} });
    expect(decided(ceased, { policy: none })).toMatchObject({ kind: 'remove' });
  });
});

describe("an injection that sends to another installation's telemetry proxy [F10]", () => {
  const moved: InjectorSettings = { ...injector, endpoint: 'http://elsewhere' };

  it('is not changed, and the decision names it', () => {
    const before = instrumented(true);
    expect(decided(before, { injector: moved })).toMatchObject({ code: 'up-to-date', elsewhere: 'http://proxy' });
    expect(decided(before, { injector: moved, policy: activeThat(false) })).toMatchObject({
      ...{ code: 'relabelled', tried: 'nothing', elsewhere: 'http://proxy' },
    });
    expect(decided(before)).not.toHaveProperty('elsewhere');
    expect(decided(before, { injector: moved, renew: true })).not.toHaveProperty('elsewhere');
  });

  it('is recognized by its variables if there is no record', () => {
    const before = instrumented(true);
    const text = JSON.stringify(before).replace(/"operator\.lumigo\.io\/injection":"(\\.|[^"\\])*",?/, '');
    expect(text).not.toContain('operator.lumigo.io/injection');
    expect(decided(JSON.parse(text) as Workload, { injector: moved })).toMatchObject({ elsewhere: 'http://proxy' });
  });
});
