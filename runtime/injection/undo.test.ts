import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  active,
  changed,
  decided,
  failedIn,
  instrumented,
  made,
  older,
  podsPolicy,
  tracing,
  withMetadata,
} from '../../sandbox/testing/injection.ts';
import { forgedTexts } from '../../sandbox/testing/forgeries.ts';
import { annotations, labels } from '../contract.ts';
import type { DecisionInput } from './decide.ts';
import { getInjectionStatus } from './injection-status.ts';
import { isInjected, uninstrument } from './remove.ts';
import { findRevert } from './revert.ts';
import type { NamespacePolicy } from './types.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

const none: NamespacePolicy = { kind: 'none' };
const text = ({ metadata }: Workload) => metadata.annotations?.[annotations.instrumentation];
const withText = (workload: Workload, value: string | undefined): Workload => {
  const { [annotations.instrumentation]: _text, ...rest } = workload.metadata.annotations ?? {};
  const own = value === undefined ? rest : { ...rest, [annotations.instrumentation]: value };
  return withMetadata(workload, { annotations: own });
};
const version = (tag: string, own: Readonly<Record<string, string>> = {}) =>
  made({ labels: own, pod: { containers: [{ name: 'app', image: `app:${tag}` }] } });

/** Replaces the pod template and all annotations by those of an earlier revision, and no label. */
const undo = (workload: Workload, { metadata, ...earlier }: Workload): Workload => ({
  ...withTemplate(workload, toTemplate({ metadata, ...earlier } as Workload) as PodTemplate),
  metadata: { ...workload.metadata, annotations: metadata.annotations ?? {} },
});

function sent(old: Workload, workload: Workload, more: Partial<DecisionInput> = {}): Workload {
  const decision = decided(workload, { operation: 'UPDATE', by: 'webhook', old, ...more });
  return decision.kind === 'none' ? workload : decision.workload;
}

function reverted(workload: Workload): Workload {
  return changed(decided(workload, { failed: { ...failedIn(workload), attempt: 3 } }));
}

describe('after `kubectl rollout undo`', () => {
  it('an opt-in by label stays, and the new pods are injected', () => {
    const before = instrumented(version('2', { [labels.autoTrace]: 'true' }), { policy: none });
    const after = sent(before, undo(before, version('1')), { policy: none });
    expect(isInjected(toTemplate(after) as PodTemplate)).toBe(true);
    expect(getInjectionStatus(after.metadata)?.userLabel).toBe('true');
    expect(uninstrument(after)).toEqual(version('1', { [labels.autoTrace]: 'true' }));
  });

  it.each<readonly [string, NamespacePolicy]>([
    ['whose Lumigo is deleted', none],
    ['whose Lumigo is disabled', { kind: 'disabled', lumigo: 'l', remove: false }],
    ['whose Lumigo is inactive', { kind: 'inactive', lumigo: 'l', reason: 'SecretNotFound' }],
  ])('a kept injection %s stays kept', (_which, policy) => {
    const earlier = instrumented(version('1'));
    const before = instrumented(version('2'), { policy: { ...active, remove: false } });
    const after = sent(before, undo(before, earlier), { policy });
    expect(getInjectionStatus(after.metadata)?.keep).toBe(true);
    expect(toTemplate(after)).toEqual(toTemplate(earlier));
    expect(decided(after, { policy }).kind).toBe('none');
  });

  it.each([
    ['the injected revision and its annotations', (before: Workload, failing: Workload) => undo(before, failing)],
    [
      'only the injected template, as of a StatefulSet',
      (before: Workload, failing: Workload) => withTemplate(before, toTemplate(failing) as PodTemplate),
    ],
  ])('a revert stands although a user brings back %s', (_what, bringBack) => {
    const failing = instrumented(version('1'));
    const before = reverted(failing);
    const decision = decided(bringBack(before, failing), { operation: 'UPDATE', by: 'webhook', old: before });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'reverted' });
    expect(decision.message).toContain('it crashed');
    expect(changed(decision)).toEqual(before);
    expect(findRevert(changed(decision).metadata)?.attempt).toBe(3);
  });

  it.each<readonly [string, NamespacePolicy]>([
    ['is deleted', none],
    ['disables injection', { kind: 'disabled', lumigo: 'l', remove: true }],
    ['is not active', { kind: 'inactive', lumigo: 'l', reason: 'SecretNotFound' }],
    ['is being deleted', { kind: 'deleting', lumigo: 'l', remove: true }],
    ['injects pods', podsPolicy(tracing)],
  ])('no injected template comes back if the Lumigo %s', (_which, policy) => {
    const [old, earlier] = [version('2'), instrumented(version('1'))];
    for (const undone of [undo(old, earlier), withTemplate(old, toTemplate(earlier) as PodTemplate)])
      expect(sent(old, undone, { policy })).toEqual(version('1'));
  });

  it('an excluded namespace keeps any template, and so does one without the record of this operator', () => {
    const [old, injected] = [version('2'), instrumented(version('1'))];
    const foreign = JSON.parse(
      JSON.stringify(injected).replaceAll('operator.lumigo.io/injection', 'other'),
    ) as Workload;
    expect(sent(old, injected, { policy: { kind: 'excluded' } })).toEqual(injected);
    expect(sent(old, foreign, { policy: none })).toEqual(foreign);
  });

  it('another injected program is a new attempt without a record of the revert', () => {
    const earlier = instrumented(version('1'));
    const before = reverted(instrumented(version('2')));
    const after = sent(before, undo(before, earlier));
    expect(isInjected(toTemplate(after) as PodTemplate)).toBe(true);
    expect([findRevert(after.metadata), after.metadata.labels?.[labels.rollout]]).toEqual([undefined, undefined]);
  });

  it('a workload that the webhook missed loses the label of its revert', () => {
    const failing = instrumented(version('1'));
    const after = changed(decided(undo(reverted(failing), failing)));
    expect(after.metadata.labels).toEqual(failing.metadata.labels);
    expect(uninstrument(undo(reverted(failing), failing))).toEqual(version('1'));
  });

  it('no new injection comes back while the injector fails', () => {
    const more = { report: { health: 'failing', why: 'it crashed' } } as const;
    const old = version('1');
    expect(sent(old, undo(old, instrumented(old)), more)).toEqual(old);
    const injected = instrumented(old);
    expect(sent(injected, undo(injected, injected), more)).toEqual(injected);
  });
});

describe('the annotation of the operator', () => {
  const texts = fc.option(fc.constantFrom(...forgedTexts), { nil: undefined });
  const states = fc.constantFrom(
    instrumented(version('1')),
    instrumented(version('1'), { injector: older }),
    instrumented(version('1'), { policy: { ...active, remove: false } }),
    instrumented(version('1', { [labels.autoTrace]: 'true' }), { policy: none }),
    reverted(instrumented(version('1'))),
  );
  const policies = fc.constantFrom<NamespacePolicy>(
    ...[active, none, { kind: 'inactive', lumigo: 'l', reason: 'SecretNotFound' } as const],
    { kind: 'disabled', lumigo: 'l', remove: true },
  );

  it('has no effect if an update changes it together with the pods', () => {
    fc.assert(
      fc.property(states, states, policies, texts, (old, next, policy, value) => {
        const template = toTemplate(next) as PodTemplate;
        for (const pods of [template, toTemplate(version('2')) as PodTemplate]) {
          const usual = sent(old, withTemplate(old, pods), { policy });
          expect(sent(old, withText(withTemplate(old, pods), value), { policy })).toEqual(usual);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each<readonly [string, Workload, Workload, NamespacePolicy]>([
    ['the operator never wrote it', made(), withText(made(), forgedTexts[0]), none],
    ['the namespace is excluded', instrumented(), withText(instrumented(), undefined), { kind: 'excluded' }],
    ['nothing changes it', instrumented(), instrumented(), none],
  ])('is not restored if %s', (_case, old, workload, policy) => {
    expect(decided(workload, { operation: 'UPDATE', old, policy }).kind).toBe('none');
  });

  it('is not restored if the annotations would become too large', () => {
    const old = instrumented();
    const full = withMetadata(withText(old, undefined), { annotations: { note: 'x'.repeat(256 * 1024 - 100) } });
    expect(decided(full, { operation: 'UPDATE', old, policy: none }).kind).toBe('none');
    expect(text(old)).toBeDefined();
  });
});
