import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  active,
  activePolicy,
  changed,
  decided as decide,
  failedIn,
  injected,
  injector as installed,
  instrumented,
  made,
  older,
  podsPolicy,
  tracing,
  withContainers,
  withMetadata,
} from '../../sandbox/testing/injection.ts';
import { forgedTexts } from '../../sandbox/testing/forgeries.ts';
import { annotations, labels } from '../contract.ts';
import type { Decision, DecisionInput } from './decision.ts';
import { revertKey } from './decide-revert.ts';
import { isInjected, uninstrument } from './remove.ts';
import { parseRevert, findRevert, withRevert } from './revert.ts';
import { isReverted, getInjectionStatus, injectionStatusText, removeInjectionStatus } from './injection-status.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { InjectorSettings, NamespacePolicy } from './types.ts';
import { toTemplate, withTemplate } from './workload.ts';
import { MAX_ANNOTATION_BYTES, whyInvalid } from './validity.ts';

const injector = older;
const at = '2026-11-22T10:00:00.000Z';
const template = (more: object = {}): PodTemplate => ({
  spec: { containers: [{ name: 'app', image: 'app:1', command: ['run'], ...more }] },
});
const workload = (pods: PodTemplate = template(), own: object = {}): Workload => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  spec: { template: pods },
  metadata: { name: 'cart', namespace: 'shop', annotations: { mine: '1' }, ...own },
});
const key = revertKey(workload(), template(), injector.image);
const revert = { at, cause: 'Crash', attempt: 2, key, evidence: 'it crashed: exit code 1' };
const reverted = (pods?: PodTemplate): Workload => {
  const plain = workload(pods);
  return { ...plain, metadata: withRevert(plain.metadata, revert) };
};
const annotated = (name: string, value: string): Workload => {
  const before = reverted();
  const own = { ...before.metadata.annotations, [name]: value };
  return { ...before, metadata: { ...before.metadata, annotations: own } };
};

const decided = (subject: Workload, more: Partial<DecisionInput> = {}): Decision =>
  decide(subject, { injector, ...more });

describe('the record of a revert', () => {
  it('is read as it was written, and is removed without a trace', () => {
    const { metadata } = reverted();
    expect(findRevert(metadata)).toEqual(revert);
    expect(metadata.labels).toEqual({ [labels.rollout]: 'reverted' });
    expect(removeInjectionStatus(metadata)).toEqual(workload().metadata);
    expect([getInjectionStatus(metadata), isReverted(injectionStatusText(metadata))]).toEqual([undefined, true]);
    expect(parseRevert(injectionStatusText(metadata))).toEqual(revert);
  });

  it('accepts no other text', () => {
    const text = reverted().metadata.annotations?.[annotations.instrumentation] ?? '';
    expect(parseRevert(`${text}${'x'.repeat(800)}`)).toBeUndefined();
    expect(parseRevert(text.replace('attempt=2', 'attempt=-1'))).toBeUndefined();
    fc.assert(fc.property(fc.string(), (each) => expect(parseRevert(each)).toBeUndefined()));
  });

  it('holds 800 characters of evidence', () => {
    const long = withRevert({}, { ...revert, evidence: 'x'.repeat(2_000) });
    expect(findRevert(long)?.evidence).toHaveLength(800);
  });
});

describe('an injection whose pods failed', () => {
  const before = changed(decided(workload()));
  const failed = failedIn(before);

  it('is removed with a record of the revert', () => {
    const { at } = getInjectionStatus(before.metadata) ?? {};
    const removed = changed(decided(before, { failed }));
    expect(findRevert(removed.metadata)).toEqual({ at, cause: 'Crash', attempt: 1, key, evidence: 'it crashed' });
    expect(removed['spec']).toEqual(workload()['spec']);
  });

  it('is removed with a short record if the annotations have no room for the evidence', () => {
    const own = { annotations: { mine: 'x'.repeat(MAX_ANNOTATION_BYTES - 400) } };
    const full = changed(decided(workload(template(), own)));
    const evidence = { cause: 'Crash', message: 'it crashed '.repeat(50) } as const;
    const removed = changed(decided(full, { failed: { ...failedIn(full), evidence } }));
    expect([whyInvalid(removed), findRevert(removed.metadata)?.evidence]).toEqual([undefined, 'see the log']);
  });

  it('stays in a Job, which cannot change, and an event says so', () => {
    const job = changed(decided({ ...workload(), apiVersion: 'batch/v1', kind: 'Job' }, { operation: 'CREATE' }));
    const kept = decided(job, { failed: failedIn(job) });
    expect(kept).toMatchObject({ kind: 'none', tried: 'remove', code: 'job-immutable-removal' });
    expect(kept.message).toMatch(/stays until the Job is deleted, although its pods fail: it crashed$/);
  });

  it('stays if the workload has another template by now, which has not failed', () => {
    const other = changed(decided(workload(template({ image: 'app:2' }))));
    expect(failedIn(other).injectionStatus).toBe(failed.injectionStatus);
    expect(decided(other, { failed }).code).toBe('up-to-date');
  });

  it('stays if it was injected again since', () => {
    const again = changed(decided(workload(), { now: '2026-06-02T00:00:00.000Z' }));
    expect(failedIn(again).template).toBe(failed.template);
    expect(decided(again, { failed }).code).toBe('up-to-date');
  });
});

/** A change of the pod template so many minutes after the revert. */
const dueAt = (minutes: number, strategy: InjectorSettings['strategy'] = 'on-next-change'): Partial<DecisionInput> => ({
  operation: 'UPDATE',
  injector: { ...injector, strategy },
  now: new Date(Date.parse(at) + minutes * 60_000).toISOString(),
});
const otherEnv = reverted(template({ env: [{ name: 'A', value: 'b' }] }));
const approved = workload(template(), { annotations: { [annotations.retry]: '1' } });
const approvedKey = revertKey(approved, template(), injector.image);
const revertedAfterApproval = { ...approved, metadata: withRevert(approved.metadata, { ...revert, key: approvedKey }) };
const by = (more: Partial<InjectorSettings>) => ({ injector: { ...injector, ...more } });
/** The workload is older than the `Lumigo`. */
const existingLeft = { policy: { ...active, injectExisting: false } };

describe('a reverted workload', () => {
  const restarted: PodTemplate = { metadata: { annotations: { restartedAt: 'now' } }, ...template() };

  it.each<[string, Workload, Partial<DecisionInput>]>([
    ['again', reverted(), {}],
    ['by the webhook', reverted(), { operation: 'UPDATE', by: 'webhook' }],
    ['after a restart [F69]', reverted(restarted), {}],
    ['with other resources [F69]', reverted(template({ resources: { limits: { cpu: '1' } } })), {}],
    ['by another version of the operator [F69]', reverted(), by({ version: '9.9.9' })],
    ['with another sidecar name [F69]', reverted(), by({ sidecars: ['x'] })],
    ['with a pull secret [F69]', reverted(), by({ imagePullSecrets: ['x'] })],
    ['with other tracing settings', reverted(), { policy: activePolicy({ ...tracing, logs: true }) }],
    ['by a change that comes too early', otherEnv, dueAt(59)],
    ['by a change that the queue of retries comes before', otherEnv, dueAt(60, 'progressive')],
    ['by a change after an approval, which the queue retries', revertedAfterApproval, dueAt(60, 'manual')],
    ['without a change', reverted(), { ...dueAt(60), operation: 'RECONCILE' }],
    ['before its time if only new ones are injected', reverted(), existingLeft],
  ])('is not injected %s', (_when, subject, more) =>
    expect(decided(subject, more)).toMatchObject({ code: 'reverted', tried: 'nothing' }),
  );

  it.each<[string, Workload, Partial<DecisionInput>]>([
    ['with the first change after its delay, if it waits for one', otherEnv, dueAt(60)],
    ['in the same way if it waits for an approval', otherEnv, dueAt(60, 'manual')],
    ['as the next attempt', reverted(), { attempt: 2 }],
    ['if no revert holds', reverted(), by({ strategy: 'immediate' })],
    ['with another image', reverted(template({ image: 'app:2' })), {}],
    ['with another command', reverted(template({ command: ['go'] })), {}],
    ['with another injector', reverted(), by({ image: 'autotrace:2' })],
    ['when its user asks for it', annotated(annotations.retry, '1'), {}],
    ['when its user chooses containers', annotated(annotations.excludeContainers, 'x'), {}],
    ['as the next attempt if only new ones are injected', reverted(), { ...existingLeft, attempt: 1 }],
    ['on request if only new ones are injected', annotated(annotations.retry, '1'), existingLeft],
  ])('is injected %s', (_when, subject, more) =>
    expect(decided(subject, more)).toMatchObject({ code: 'injected', tried: 'add' }),
  );

  it.each<[string, NamespacePolicy]>([
    ['lumigo-deleting', { kind: 'deleting', lumigo: 'lumigo', remove: true }],
    ['lumigo-deleting', { kind: 'deleting', lumigo: 'lumigo', remove: false }],
    ['no-lumigo', { kind: 'none' }],
  ])('loses the record without a Lumigo: %s, %j', (code, policy) => {
    const decision = decided(reverted(), { policy });
    expect(decision).toMatchObject({ code, tried: 'nothing' });
    expect(changed(decision)).toEqual(workload());
  });

  it('keeps the number of its attempts, and no record, once it is injected', () => {
    for (const more of [{ attempt: 2 }, by({ strategy: 'immediate' }), dueAt(60)]) {
      const { metadata } = changed(decided(reverted(), more));
      expect(getInjectionStatus(metadata)?.attempt).toBe(2);
      expect([findRevert(metadata), metadata.labels?.[labels.rollout]]).toEqual([undefined, undefined]);
    }
  });

  it.each([
    [1, 10],
    [2, 60],
    [3, 6 * 60],
    [4, 24 * 60],
    [9, 24 * 60],
  ])('waits after attempt %d for %d minutes', (attempt, minutes) => {
    const subject = { ...otherEnv, metadata: withRevert(otherEnv.metadata, { ...revert, attempt }) };
    const early = decided(subject, dueAt(minutes - 1 / 60_000));
    expect([early.code, decided(subject, dueAt(minutes)).code]).toEqual(['reverted', 'injected']);
  });

  it('has the same key with the injection and without it', () => {
    const after = injected(template(), { ...injector, ...tracing }) as PodTemplate;
    expect(revertKey(workload(after), after, injector.image)).toBe(key);
  });
});

describe('the webhook', () => {
  const known = (health: 'failing' | 'unverified') =>
    ({ operation: 'CREATE', by: 'webhook', report: { health, why: 'it crashed' } }) as const;
  const job: Workload = { ...workload(), apiVersion: 'batch/v1', kind: 'Job' };
  const idle: Workload = { ...workload(), spec: { replicas: 0, template: template() } };
  const updateStrategy = { type: 'OnDelete' };
  const byHand: Workload = { ...workload(), kind: 'StatefulSet', spec: { updateStrategy, template: template() } };
  it.each<[string, Workload, 'failing' | 'unverified', string]>([
    ['injects nothing new while the injector fails [F67]', workload(), 'failing', 'injector-failing'],
    ['nor a Job [F67]', job, 'failing', 'injector-failing'],
    ['leaves a Job until the injector is verified [F67]', job, 'unverified', 'injector-unverified'],
    ['and what has no replicas [F67]', idle, 'unverified', 'injector-unverified'],
    ['and what restarts only by hand', byHand, 'unverified', 'injector-unverified'],
  ])('%s', (_title, subject, health, code) =>
    expect(decided(subject, known(health))).toMatchObject({ code, tried: 'nothing' }),
  );

  it('injects what its pods can judge', () =>
    expect(decided(workload(), known('unverified'))).toMatchObject({ code: 'injected', tried: 'add' }));

  it('keeps an existing injection while the injector fails', () => {
    const sent = { ...known('failing'), operation: 'UPDATE' as const, old: changed(decided(workload())) };
    expect(decided(workload(), sent).code).toBe('restored');
  });
});

const none: NamespacePolicy = { kind: 'none' };
const inactive: NamespacePolicy = { kind: 'inactive', lumigo: 'l', reason: 'SecretNotFound' };
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
  const decision = decide(workload, { operation: 'UPDATE', by: 'webhook', old, ...more });
  return decision.kind === 'none' ? workload : decision.workload;
}

function takenBack(workload: Workload): Workload {
  return changed(decide(workload, { failed: { ...failedIn(workload), attempt: 3 } }));
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
    ['whose Lumigo is inactive', inactive],
  ])('a kept injection %s stays kept', (_which, policy) => {
    const earlier = instrumented(version('1'));
    const before = instrumented(version('2'), { policy: { ...active, remove: false } });
    const after = sent(before, undo(before, earlier), { policy });
    expect(getInjectionStatus(after.metadata)?.keep).toBe(true);
    expect(toTemplate(after)).toEqual(toTemplate(earlier));
    expect(decide(after, { policy }).kind).toBe('none');
  });

  it.each([
    ['the injected revision and its annotations', (before: Workload, failing: Workload) => undo(before, failing)],
    [
      'only the injected template, as of a StatefulSet',
      (before: Workload, failing: Workload) => withTemplate(before, toTemplate(failing) as PodTemplate),
    ],
  ])('a revert stands although a user brings back %s', (_what, bringBack) => {
    const failing = instrumented(version('1'));
    const before = takenBack(failing);
    for (const strategy of ['progressive', 'on-next-change', 'manual'] as const) {
      const later = { ...dueAt(24 * 60), injector: { ...installed, strategy } };
      const decision = decide(bringBack(before, failing), { ...later, by: 'webhook', old: before });
      expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'reverted' });
      expect(decision.message).toContain('it crashed');
      expect(changed(decision)).toEqual(before);
      expect(findRevert(changed(decision).metadata)?.attempt).toBe(3);
    }
  });

  it.each<readonly [string, NamespacePolicy]>([
    ['is deleted', none],
    ['disables injection', { kind: 'disabled', lumigo: 'l', remove: true }],
    ['is not active', inactive],
    ['is being deleted', { kind: 'deleting', lumigo: 'l', remove: true }],
    ['injects pods', podsPolicy(tracing)],
  ])('no injected template comes back if the Lumigo %s', (_which, policy) => {
    const old = version('2');
    const earlier = instrumented(version('1'));
    for (const undone of [undo(old, earlier), withTemplate(old, toTemplate(earlier) as PodTemplate)])
      expect(sent(old, undone, { policy })).toEqual(version('1'));
  });

  it('an excluded namespace keeps any template, and so does one without the record of this operator', () => {
    const old = version('2');
    const injected = instrumented(version('1'));
    const foreign = JSON.parse(
      JSON.stringify(injected).replaceAll('operator.lumigo.io/injection', 'other'),
    ) as Workload;
    expect(sent(old, injected, { policy: { kind: 'excluded' } })).toEqual(injected);
    expect(sent(old, foreign, { policy: none })).toEqual(foreign);
  });

  it('another injected program is a new attempt without a record of the revert', () => {
    const earlier = instrumented(version('1'));
    const before = takenBack(instrumented(version('2')));
    const after = sent(before, undo(before, earlier));
    expect(isInjected(toTemplate(after) as PodTemplate)).toBe(true);
    expect([findRevert(after.metadata), after.metadata.labels?.[labels.rollout]]).toEqual([undefined, undefined]);
  });

  it('a workload that the webhook missed loses the label of its revert', () => {
    const failing = instrumented(version('1'));
    const after = changed(decide(undo(takenBack(failing), failing)));
    expect(after.metadata.labels).toEqual(failing.metadata.labels);
    expect(uninstrument(undo(takenBack(failing), failing))).toEqual(version('1'));
  });

  it('no new injection comes back while the injector fails', () => {
    const more = { report: { health: 'failing', why: 'it crashed' } } as const;
    const old = version('1');
    expect(sent(old, undo(old, instrumented(old)), more)).toEqual(old);
    const injected = instrumented(old);
    expect(sent(injected, undo(injected, injected), more)).toEqual(injected);
  });
});

describe('an update without any label and annotation of the operator, as of `kubectl replace`', () => {
  const before = takenBack(instrumented(version('1')));
  const next = withContainers(version('1'), () => ({ env: [{ name: 'A', value: 'b' }] }));

  it('keeps the record of a revert if it changes no program', () => {
    const decision = decide(next, { operation: 'UPDATE', by: 'webhook', old: before });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'reverted' });
    expect(changed(decision)).toEqual({ ...next, metadata: before.metadata });
  });

  it('is a new attempt without the record if it changes a program', () => {
    const after = sent(before, version('2'));
    expect(isInjected(toTemplate(after) as PodTemplate)).toBe(true);
    expect([findRevert(after.metadata), after.metadata.labels?.[labels.rollout]]).toEqual([undefined, undefined]);
  });

  it('restores no record if it opts out', () => {
    const out = withMetadata(next, { labels: { app: 'app', [labels.autoTrace]: 'false' } });
    expect(sent(before, out)).toEqual(out);
  });

  it('is injected once its retry is due, also if the API server repeats the call', () => {
    const more = { ...dueAt(24 * 60), injector: { ...installed, strategy: 'on-next-change' } } as const;
    const first = sent(before, next, more);
    expect(getInjectionStatus(first.metadata)?.attempt).toBe(3);
    const second = sent(before, first, more);
    expect([toTemplate(second), findRevert(second.metadata)]).toEqual([toTemplate(first), undefined]);
  });
});

describe('the annotation of the operator', () => {
  const texts = fc.option(fc.constantFrom(...forgedTexts), { nil: undefined });
  const states = fc.constantFrom(
    instrumented(version('1')),
    instrumented(version('1'), { injector: older }),
    instrumented(version('1'), { policy: { ...active, remove: false } }),
    instrumented(version('1', { [labels.autoTrace]: 'true' }), { policy: none }),
    takenBack(instrumented(version('1'))),
  );
  const disabled: NamespacePolicy = { kind: 'disabled', lumigo: 'l', remove: true };
  const policies = fc.constantFrom<NamespacePolicy>(active, none, inactive, disabled);

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
    ['the user wrote it before', withText(made(), 'first'), withText(made(), 'second'), none],
    ['the namespace is excluded', instrumented(), withText(instrumented(), undefined), { kind: 'excluded' }],
    ['nothing changes it', instrumented(), instrumented(), none],
  ])('is not restored if %s', (_case, old, workload, policy) => {
    expect(decide(workload, { operation: 'UPDATE', old, policy }).kind).toBe('none');
  });

  it('is not restored if the annotations would become too large', () => {
    const old = instrumented();
    const full = withMetadata(withText(old, undefined), { annotations: { note: 'x'.repeat(256 * 1024 - 100) } });
    expect(decide(full, { operation: 'UPDATE', old, policy: none }).kind).toBe('none');
    expect(text(old)).toBeDefined();
  });
});
