import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { applyStrictly } from '../../sandbox/testing/apply-patch.ts';
import { anyJson, damaged } from '../../sandbox/testing/arbitrary/damage.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { fuzz, fuzzTimeoutMs } from '../../sandbox/testing/fuzz.ts';
import { active, decided, injected as injectedBy, injector, made, settings } from '../../sandbox/testing/injection.ts';
import { annotations, labels, workloads } from '../contract.ts';
import { getOriginalState } from '../injection/original-state.ts';
import { isInjected, remove } from '../injection/remove.ts';
import { withTemplate } from '../injection/workload.ts';
import { parseInjectionStatus } from '../injection/injection-status.ts';
import type { PodTemplate } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { reviewWorkload } from './injector.ts';
import { readReview } from './read-review.ts';
import { reviewType, writeReview } from './review.ts';

const context = (policy: NamespacePolicy) => ({
  injector: settings,
  ownUser: 'us',
  lumigoes: { policy: () => policy, effective: () => undefined },
});
const policies = fc.constantFrom(active, { kind: 'none' } as const);

const injected = (template: PodTemplate): PodTemplate => injectedBy(template) ?? template;
const templates = fc.tuple(podTemplate(), fc.boolean()).map(([template, is]) => (is ? injected(template) : template));

const label = fc.constantFrom({}, { [labels.autoTrace]: 'true' }, { [labels.autoTrace]: 'false' });
const objects = fc
  .tuple(fc.constantFrom(...workloads), templates, label)
  .map(([{ apiVersion, kind, template: path }, template, own]) => {
    const spec = path
      .toReversed()
      .slice(0, -1)
      .reduce<object>((inner, step) => ({ [step]: inner }), template);
    return { apiVersion, kind, metadata: { name: 'app', namespace: 'shop', labels: own }, spec };
  });

const requests = fc.record({
  uid: fc.constant('u'),
  kind: fc.constant({ group: 'apps', version: 'v1', kind: 'Deployment' }),
  operation: fc.constantFrom('CREATE', 'UPDATE', 'DELETE'),
  object: damaged(objects),
  oldObject: fc.option(damaged(objects)),
});

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

function answered(bytes: Uint8Array | string, policy: NamespacePolicy = active) {
  const whole = Buffer.from(bytes as string);
  const request = readReview({ bytes: whole, length: whole.length });
  return 'status' in request ? request : { uid: request.uid, answer: reviewWorkload(request, context(policy)) };
}
const getReview = (request: unknown) => JSON.stringify({ ...reviewType, request });

const law = <T>(title: string, property: fc.IProperty<T>, more: fc.Parameters<T> = {}) =>
  it(title, () => fc.assert(property, { ...fuzz, ...more }), fuzzTimeoutMs);

describe('fuzz: a review', () => {
  law(
    'is answered or refused with a sentence, for any bytes and any JSON',
    fc.property(fc.oneof(fc.uint8Array(), anyJson, damaged(requests).map(getReview)), (bytes) => {
      const reviewed = answered(bytes);
      const { code, message } = 'status' in reviewed ? { code: 200, ...reviewed } : reviewed.answer;
      expect(code).toBe(200);
      expect(message).toMatch(/\w+ \w+/);
    }),
  );

  law(
    'is allowed for any object, and its patch can be applied',
    fc.property(requests, policies, (request, policy) => {
      const reviewed = answered(getReview(request), policy);
      if (!('answer' in reviewed)) throw new Error('it was not reviewed');
      const { answer, uid } = reviewed;
      expect(answer.code).toBe(200);
      expect(JSON.parse(writeReview(uid, answer))).toMatchObject({ response: { uid: 'u' } });
      if (answer.patch !== undefined) applyStrictly(request.object, answer.patch);
    }),
  );

  it.each([
    ['depth', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['nesting', '['.repeat(9_000) + ']'.repeat(9_000)],
    ['length', `[${'[],'.repeat(20_000)}[]]`],
    ['width', `{${Array.from({ length: 4_000 }, (_, index) => `"k${index}":{}`).join(',')}}`],
  ])('ends no process, at the maximum %s of a body', (_what, shape) => {
    for (const fields of [
      `"metadata":{"labels":${shape}}`,
      `"metadata":{},"spec":{"template":{"spec":{"containers":[{"name":"a"}],"x":${shape}}}}`,
    ]) {
      const object = `{"apiVersion":"apps/v1","kind":"Deployment",${fields}}`;
      const request = `{"uid":"u","operation":"UPDATE","object":${object},"oldObject":${object}}`;
      const body = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":${request}}`;
      expect(answered(body)).toMatchObject({ answer: { code: 200 } });
    }
  });
});

describe('fuzz: the annotations of an object', () => {
  const forged = fc.dictionary(fc.constantFrom('choice', ...Object.keys(injector)), fc.jsonValue(), { maxKeys: 2 });
  const record = fc
    .tuple(templates, forged)
    .map(([template, fields]): unknown => ({ ...getOriginalState(injected(template)), ...fields }));
  const texts = fc.oneof(
    anyJson,
    fc.string(),
    damaged(record).map((each) => JSON.stringify(each) ?? ''),
  );

  law(
    'lead to a decision, and to a removal that leaves no injection, whatever the record says',
    fc.property(templates, texts, (template, text) => {
      const whole = injected(template);
      const own = { ...whole.metadata?.annotations, [annotations.injection]: text };
      const changed = { ...whole, metadata: { ...whole.metadata, annotations: own } };
      expect(decided(withTemplate(made(), changed)).message).toMatch(/\w+ \w+/);
      const clean = remove(changed);
      expect(isInjected(clean)).toBe(false);
      expect(remove(clean)).toEqual(clean);
    }),
  );

  const nearly = /^added \S{1,5} by webhook; secret=\S{1,5}\/\S{1,5} traces=true logs=false label=.{0,9}$/;
  law(
    'have a valid injection status or none',
    fc.property(fc.oneof(fc.string(), fc.stringMatching(nearly)), (text) => {
      const { userLabel } = parseInjectionStatus(text) ?? {};
      fc.pre(userLabel !== undefined);
      expect(userLabel).toMatch(/^[-\w.]*$/);
    }),
    { maxSkipsPerRun: 10 },
  );
});
