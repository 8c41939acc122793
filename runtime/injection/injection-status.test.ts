import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decided, instrumented, made } from '../../sandbox/testing/injection.ts';
import { annotations, labels } from '../contract.ts';
import { labelValue, optedOut } from './label.ts';
import {
  getInjectionStatus,
  injectionStatus,
  MAX_SKIPPED,
  parseInjectionStatus,
  removeInjectionStatus,
  toLabel,
} from './injection-status.ts';
import { uninstrument } from './remove.ts';
import type { Metadata } from '../api/objects.ts';

/** Kubernetes accepts these as values of a label, and as names and keys of a Secret. */
const labelText = fc.stringMatching(/^([A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?)?$/);
const secretName = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/);
const secretKey = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/);

const tracing = fc.record({ secretName, secretKey, traces: fc.boolean(), logs: fc.boolean() });
const told = fc.record({
  change: fc.constantFrom('added' as const, 'updated' as const, 'adopted' as const),
  at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') }).map((date) => date.toISOString()),
  by: fc.constantFrom('webhook' as const, 'controller' as const),
  tracing,
});

const someText = fc.stringMatching(/^[ -~\n]{0,20}$/);
const filled = (own: string, value: fc.Arbitrary<string>) =>
  fc.dictionary(fc.constantFrom('app', 'a/b', 'constructor', own), value, { minKeys: 1 });
const metadata: fc.Arbitrary<Metadata> = fc
  .record(
    {
      labels: filled(labels.autoTrace, labelText),
      annotations: filled('note', someText),
      finalizers: fc.constant(['f']),
      futureField: fc.constant({ a: [1] }),
    },
    { requiredKeys: [] },
  )
  .filter(({ labels: own }) => own?.[labels.autoTrace]?.startsWith('lumigo-operator.v') !== true);

describe('the injection status', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(told, fc.boolean(), fc.option(labelText, { nil: undefined }), (content, keep, userLabel) => {
        const whole = { ...content, keep: keep || undefined, userLabel };
        const text = injectionStatus({}, 'lumigo-operator.v1', whole).annotations?.[annotations.instrumentation];
        expect(parseInjectionStatus(text)).toEqual(whole);
        expect(text).not.toContain('\n');
      }),
      { numRuns: 500 },
    );
  });

  it('has the beginning of the reasons for skipped containers, which stays', () => {
    const mounts = [{ name: 'data', mountPath: '/opt/lumigo/a\nb' }];
    const odd = Array.from({ length: 9 }, (_, index) => ({ name: `odd-${index}`, volumeMounts: mounts }));
    const pod = { containers: [...odd, { name: 'app' }], volumes: [{ name: 'data', emptyDir: {} }] };
    const workload = instrumented(made({ pod }));
    const { skipped = '' } = getInjectionStatus(workload.metadata) ?? {};
    expect(skipped).toMatch(/^container 'odd-0' is skipped: its volume 'data' is mounted at \/opt\/lumigo\/a\nb/);
    expect(skipped).toHaveLength(MAX_SKIPPED);
    expect(decided(workload).code).toBe('up-to-date');
    expect(uninstrument(workload)).toEqual(made({ pod }));
  });

  it('is removed from any metadata without a trace, also after another replaced it', () => {
    fc.assert(
      fc.property(metadata, told, told, (own, first, second) => {
        const remembered = { userLabel: toLabel(own) };
        const once = injectionStatus(own, 'lumigo-operator.v1.0.0', { ...first, ...remembered });
        expect(toLabel(once)).toBe(toLabel(own));
        expect(removeInjectionStatus(once)).toEqual(own);
        const twice = injectionStatus(once, 'lumigo-operator.v2.0.0', { ...second, ...remembered });
        expect(removeInjectionStatus(twice)).toEqual(own);
        expect(removeInjectionStatus(removeInjectionStatus(once))).toEqual(own);
      }),
      { numRuns: 500 },
    );
  });

  it('belongs to the user if a label only begins like ours [F12]', () => {
    const own = { labels: { [labels.autoTrace]: 'lumigo-operator.mine' } };
    expect(toLabel(own)).toBe('lumigo-operator.mine');
    expect(removeInjectionStatus(own)).toEqual(own);
  });

  it('is ignored if another author wrote it', () => {
    fc.assert(
      fc.property(someText, (text) => expect(parseInjectionStatus(text)).toBeUndefined()),
      { numRuns: 300 },
    );
    expect(removeInjectionStatus({ annotations: { [annotations.instrumentation]: 'nonsense' } })).toEqual({});
  });

  it('is read up to 1,200 characters, because a tenant can write any text', () => {
    const text = (length: number) => {
      const rest = ' by webhook; secret=s/k traces=true logs=false';
      return `added ${'x'.repeat(length - 6 - rest.length)}${rest}`;
    };
    const isRead = (length: number) => parseInjectionStatus(text(length)) !== undefined;
    expect([1_200, 1_201].map(isRead)).toEqual([true, false]);
  });

  it.each([
    ['2.1.0-rc.1+build', '2.1.0-rc.1-build'],
    ['1'.repeat(47), '1'.repeat(46)],
    [`${'1'.repeat(45)}+2`, '1'.repeat(45)],
  ])('has beside it, for the version %s, a label that Kubernetes accepts', (version, expected) => {
    expect(labelValue(version)).toBe(`lumigo-operator.v${expected}`);
  });

  it.each([
    ...['false', 'False', 'FALSE'].map((value) => [value, true] as const),
    ...['true', '', 'no', 'falsely'].map((value) => [value, false] as const),
  ])('the label %j opts out: %s [D19]', (value, expected) => {
    expect(optedOut({ labels: { [labels.autoTrace]: value } })).toBe(expected);
  });
});
