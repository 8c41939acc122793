import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { annotations } from '../../runtime/contract.ts';
import { getTracerVariables } from '../../runtime/injection/tracer-settings.ts';
import type { OriginalState } from '../../runtime/injection/original-state.ts';
import { orUndefined } from '../../runtime/json/values.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { tracerSettings } from '../../sandbox/testing/arbitrary/tracer-settings.ts';
import { fuzz } from '../../sandbox/testing/fuzz.ts';
import { injected, settings } from '../../sandbox/testing/injection.ts';
import { MOUNT, RECORD, VARIABLE } from './record-rules.ts';

// JavaScript and RE2 read these patterns alike.
const form = new RegExp(RECORD);

const records = fc.tuple(podTemplate(), tracerSettings).map(([template, env]) => {
  const result = injected(template, { ...settings, env: getTracerVariables(env) });
  return result?.metadata?.annotations?.[annotations.injection] ?? '';
});

const pieces = [
  ...'"\\{}[],: \n1a'.split(''),
  String.raw`\u0061`,
  '{"value":"evil","name":"LUMIGO_ENDPOINT"},',
  '{"name":"LUMIGO_ENDPOINT","value":"evil"},',
  ',"subPath":"evil"',
  ',"mount":{"name":"evil","mountPath":"/opt/lumigo"}',
  ',"env":{"NODE_OPTIONS":{"value":"evil"}}',
  ',"kept":{"app":{"env":[{"name":"LUMIGO_ENDPOINT","value":"evil"}]}}',
  ',"kept":{"mount":{"env":[{"name":"LUMIGO_ENDPOINT"}],"mount":{"name":"evil","mountPath":"/opt/lumigo"}}}',
];
const edit = fc.record({ at: fc.nat(), without: fc.nat(2), piece: fc.constantFrom('', ...pieces) });
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

/** Changes the text between two of its tokens. */
function edited(text: string, { at, without, piece }: Edit): string {
  const tokens = text.split(/(?<=[{}[\],:"])|(?=[{}[\],:"])/);
  return tokens.toSpliced(at % (tokens.length + 1), without, piece).join('');
}

const extracted = (text: string, pattern: string): unknown[] =>
  [...text.matchAll(new RegExp(pattern, 'g'))].map(([found]) => JSON.parse(found.replace(/^"mount":/, '')) as unknown);

describe('the form of a record', () => {
  it('has every record that the operator writes', () => {
    fc.assert(
      fc.property(records, (record) => expect(record).toMatch(form)),
      fuzz,
    );
    expect('').toMatch(form);
  });

  it('has no other field than those of the operator', () => {
    const record = '{"endpoint":"e","secretName":"s","secretKey":"k","traces":true,"logs":true}';
    expect(record).toMatch(form);
    expect(record.replace('}', ',"later":true}')).not.toMatch(form);
  });

  it('lets the patterns of the guard find all that a removal restores', () => {
    let accepted = 0;
    const edits = fc.array(edit, { minLength: 1, maxLength: 3 });
    const check = (record: string, changes: readonly Edit[]) => {
      const text = changes.reduce(edited, record);
      const state = orUndefined(() => JSON.parse(text) as OriginalState);
      if (state === undefined || !form.test(text)) return;
      accepted += 1;
      for (const { env = [], mount } of Object.values(state.kept ?? {})) {
        for (const variable of env) expect(extracted(text, VARIABLE)).toContainEqual(variable);
        if (mount !== undefined) expect(extracted(text, MOUNT)).toContainEqual(mount);
      }
      for (const name of Object.keys(state.env ?? {})) expect(name).toMatch(/^(LUMIGO|OTEL)_/);
    };
    fc.assert(fc.property(records, edits, check), { ...fuzz, numRuns: fuzz.numRuns * 10 });
    expect(accepted).toBeGreaterThan(30);
  });
});
