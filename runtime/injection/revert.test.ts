import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  changed,
  decided as decide,
  failedIn,
  injected,
  older as injector,
  tracing,
  activePolicy,
} from '../../sandbox/testing/injection.ts';
import { annotations, labels } from '../contract.ts';
import type { Decision, DecisionInput } from './decide.ts';
import { revertKey } from './decide-revert.ts';
import { parseRevert, findRevert, withRevert } from './revert.ts';
import { isReverted, getInjectionStatus, injectionStatusText, removeInjectionStatus } from './injection-status.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { NamespacePolicy } from './types.ts';
import { MAX_ANNOTATION_BYTES, whyInvalid } from './validity.ts';

const at = '2026-11-22T10:00:00.000Z';
const template = (more: object = {}): PodTemplate => ({
  spec: { containers: [{ name: 'app', image: 'app:1', command: ['run'], ...more }] },
});
const workload = (pods: PodTemplate = template(), own: object = {}): Workload => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', spec: { template: pods } },
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
  const instrumented = changed(decided(workload()));
  const failed = failedIn(instrumented);

  it('is removed with a record of the revert', () => {
    const { at } = getInjectionStatus(instrumented.metadata) ?? {};
    const removed = changed(decided(instrumented, { failed }));
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
    expect(kept.message).toContain('it crashed');
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

const triedWith = (code: string) => (code === 'injected' ? 'add' : 'nothing');

describe('a reverted workload', () => {
  const gone: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
  const restarted: PodTemplate = { metadata: { annotations: { restartedAt: 'now' } }, ...template() };
  it.each<[string, Workload, Partial<DecisionInput>, string]>([
    ['is not injected again', reverted(), {}, 'reverted'],
    ['nor by the webhook', reverted(), { operation: 'UPDATE', by: 'webhook' }, 'reverted'],
    ['nor after a restart [F69]', reverted(restarted), {}, 'reverted'],
    ['nor with other resources [F69]', reverted(template({ resources: { limits: { cpu: '1' } } })), {}, 'reverted'],
    [
      'nor by another version of the operator [F69]',
      reverted(),
      { injector: { ...injector, version: '9.9.9' } },
      'reverted',
    ],
    ['nor with another sidecar name [F69]', reverted(), { injector: { ...injector, sidecars: ['x'] } }, 'reverted'],
    ['nor with a pull secret [F69]', reverted(), { injector: { ...injector, imagePullSecrets: ['x'] } }, 'reverted'],
    ['nor with other tracing settings', reverted(), { policy: activePolicy({ ...tracing, logs: true }) }, 'reverted'],
    ['is injected as the next attempt', reverted(), { attempt: 2 }, 'injected'],
    ['is injected if no revert holds', reverted(), { injector: { ...injector, ignoresReverts: true } }, 'injected'],
    ['is injected with another image', reverted(template({ image: 'app:2' })), {}, 'injected'],
    ['is injected with another command', reverted(template({ command: ['go'] })), {}, 'injected'],
    ['is injected with another injector', reverted(), { injector: { ...injector, image: 'autotrace:2' } }, 'injected'],
    ['is injected when its user asks for it', annotated(annotations.retry, '1'), {}, 'injected'],
    ['is injected when its user chooses containers', annotated(annotations.excludeContainers, 'x'), {}, 'injected'],
    ['loses the record with its Lumigo', reverted(), { policy: gone }, 'forgotten'],
    ['loses it though injections stay', reverted(), { policy: { ...gone, remove: false } }, 'forgotten'],
  ])('%s', (_title, subject, more, code) =>
    expect(decided(subject, more)).toMatchObject({ code, tried: triedWith(code) }),
  );

  it('keeps the number of its attempts, and no record, once it is injected', () => {
    for (const more of [{ attempt: 2 }, { injector: { ...injector, ignoresReverts: true } }]) {
      const { metadata } = changed(decided(reverted(), more));
      expect(getInjectionStatus(metadata)?.attempt).toBe(2);
      expect([findRevert(metadata), metadata.labels?.[labels.rollout]]).toEqual([undefined, undefined]);
    }
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
  it.each<[string, Workload, Partial<DecisionInput>, string]>([
    ['injects nothing new while the injector fails [F67]', workload(), known('failing'), 'injector-failing'],
    ['nor a Job [F67]', job, known('failing'), 'injector-failing'],
    ['leaves a Job until the injector is verified [F67]', job, known('unverified'), 'injector-unverified'],
    ['and what has no replicas [F67]', idle, known('unverified'), 'injector-unverified'],
    ['injects what its pods can judge', workload(), known('unverified'), 'injected'],
  ])('%s', (_title, subject, more, code) =>
    expect(decided(subject, more)).toMatchObject({ code, tried: triedWith(code) }),
  );

  it('keeps an existing injection while the injector fails', () => {
    const sent = { ...known('failing'), operation: 'UPDATE' as const, old: changed(decided(workload())) };
    expect(decided(workload(), sent).code).toBe('restored');
  });
});
