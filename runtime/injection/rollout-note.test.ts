import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { older as injector, tracing } from '../../sandbox/testing/injection.ts';
import { activePolicy } from '../../sandbox/testing/policies.ts';
import { annotations, labels } from '../contract.ts';
import { decide } from './decide.ts';
import { fingerprint } from './fingerprint.ts';
import { subjectOf } from './frozen.ts';
import { noteOf, parseNote, withNote, withoutNote } from './rollout-note.ts';
import type { NamespacePolicy, PodTemplate, Workload } from './types.ts';

const policy = activePolicy(tracing);
const template: PodTemplate = { spec: { containers: [{ name: 'app', image: 'app:1' }] } };
const plain: Workload = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'cart', namespace: 'shop' }, spec: { template } },
};
const note = {
  ...{ at: '2026-11-22T10:00:00.000Z', cause: 'Crash', evidence: 'boom' },
  ...subjectOf(plain, template, { ...injector, ...tracing }),
};
const noted = { ...plain, metadata: withNote(plain.metadata, note) };
const withTemplate = (image: string): Workload => ({
  ...noted,
  spec: { template: { spec: { containers: [{ name: 'app', image }] } } },
});

const decided = (workload: Workload, more: Partial<Parameters<typeof decide>[0]> = {}) =>
  decide({
    workload,
    operation: 'RECONCILE',
    policy,
    injector,
    now: '2026-11-22T11:00:00.000Z',
    by: 'controller',
    ...more,
  });

describe('the note of an injection that was put back', () => {
  it('is read as it was written, and taken off without a trace', () => {
    expect(noteOf(noted.metadata)).toEqual(note);
    expect(noted.metadata.labels).toEqual({ [labels.rollout]: 'reverted' });
    expect(withoutNote(noted.metadata)).toEqual(plain.metadata);
    fc.assert(fc.property(fc.string(), (text) => expect(parseNote(text)).toBeUndefined()));
    expect(parseNote('{"at":1}')).toBeUndefined();
    expect(parseNote(JSON.stringify({ ...note, evidence: 'x'.repeat(1_001) }))).toBeUndefined();
    expect(parseNote(JSON.stringify({ ...note, retry: {} }))).toBeUndefined();
  });

  const more = {
    metadata: { ...noted.metadata, annotations: { ...noted.metadata.annotations, [annotations.retry]: '1' } },
  };
  const gone: NamespacePolicy = { state: 'deleting', lumigo: 'lumigo', remove: true };
  it.each<[string, Workload, Partial<Parameters<typeof decide>[0]>, string]>([
    ['keeps the workload from being injected again', noted, {}, 'frozen'],
    ['and the webhook from it', noted, { operation: 'UPDATE', by: 'webhook' }, 'frozen'],
    ['does not hold for another pod template', withTemplate('app:2'), {}, 'injected'],
    ['does not hold for another injector', noted, { injector: { ...injector, image: 'autotrace:2' } }, 'injected'],
    ['does not hold once somebody asks for another try', { ...noted, ...more }, {}, 'injected'],
    ['goes with its Lumigo', noted, { policy: gone }, 'forgotten'],
    ['goes with its Lumigo though injections stay', noted, { policy: { ...gone, remove: false } }, 'forgotten'],
    ['goes where there is no Lumigo any more', noted, { policy: { state: 'none' } }, 'forgotten'],
  ])('%s', (_title, workload, input, code) => {
    const decision = decided(workload, input);
    expect(decision.code).toBe(code);
    if (decision.action !== 'none') expect(noteOf(decision.workload.metadata)).toBeUndefined();
  });

  it('is of the template as it is meant: nulls, the order of keys and what is empty make no difference', () => {
    expect(fingerprint({ a: 1, b: { c: [] }, d: null })).toBe(fingerprint({ a: 1 }));
    expect(fingerprint({ a: 1, b: 2 })).toBe(fingerprint({ b: 2, a: 1 }));
    expect(fingerprint({ a: '1' })).not.toBe(fingerprint({ a: 1 }));
    expect(fingerprint([1, 2])).not.toBe(fingerprint([2, 1]));
  });
});
