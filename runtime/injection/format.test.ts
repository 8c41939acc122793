import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  changed,
  decided,
  instrumented as byWebhook,
  made,
  settings,
  tracing,
  withContainers,
  activePolicy,
} from '../../sandbox/testing/injection.ts';
import { annotations } from '../contract.ts';
import type { DecisionInput } from './decide.ts';
import { inject } from './inject.ts';
import { isCurrent, isIntact } from './intact.ts';
import { lastNamed } from '../json/values.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { remove } from './remove.ts';
import type { InjectionSettings } from './types.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { currentFormat, variables, getVariables, type InjectedVariable } from './variables.ts';
import { toTemplate, withTemplate } from './workload.ts';

/** No release had format 0. It writes no variable, so later formats add all of them. */

const later: InjectionSettings = { ...settings, version: '2.0.0', image: 'autotrace:2' };
const elsewhere: InjectionSettings = { ...later, endpoint: 'http://elsewhere' };
const formats = Array.from({ length: currentFormat + 1 }, (_, format) => format);

/** Fails if no template can be injected. */
function forEveryInjected(judge: (clean: PodTemplate, injected: PodTemplate, format: number) => void): void {
  let judged = 0;
  fc.assert(
    fc.property(podTemplate({ unknownFields: true }), fc.constantFrom(...formats), (clean, format) => {
      const result = inject(clean, settings, format);
      if (result.refused !== undefined) return;
      judged += 1;
      judge(clean, result.template, format);
    }),
    { numRuns: 500 },
  );
  expect(judged).toBeGreaterThan(150);
}

const getOriginalState = (template: PodTemplate | undefined) =>
  JSON.parse(template?.metadata?.annotations?.[annotations.injection] ?? '{}') as Record<string, unknown>;

describe('an injection of an earlier format [F13]', () => {
  it('is intact, removed whole and renewed under every later one, and current only under its own', () => {
    forEveryInjected((clean, injected, format) => {
      expect(isIntact(injected, elsewhere)).toBe(true);
      expect(isCurrent(injected, settings)).toBe(format === currentFormat);
      // A user's variable of a later name stays.
      expect(remove(injected)).toEqual(clean);
      expect(inject(injected, later)).toEqual(inject(clean, later));
    });
  });

  it('has the variables of its format, which its record names unless it is the first', () => {
    for (const format of formats) {
      const result = inject({ spec: { containers: [{ name: 'app', image: 'a' }] } }, settings, format);
      if (result.refused !== undefined) throw new Error(result.refused);
      const names = result.template.spec.containers[0]?.env?.map(({ name }) => name) ?? [];
      expect(names).toEqual(variables.filter(({ since }) => since <= format).map(({ name }) => name));
      expect(getOriginalState(result.template)['format']).toBe(format === 1 ? undefined : format);
    }
  });
});

describe('the variables of a format [F13]', () => {
  const row = (name: string, since: number): InjectedVariable => ({
    name,
    since,
    write: () => ({ value: `${since}` }),
  });
  const table = [row('A', 1), row('B', 2), row('A', 3), row('C', 3)];

  it.each([
    [0, []],
    [1, ['A1']],
    [2, ['A1', 'B2']],
    [3, ['B2', 'A3', 'C3']],
    [9, ['B2', 'A3', 'C3']],
  ])('%d: each once, as it was written last', (format, expected) => {
    expect(getVariables(format, table).map(({ name, since }) => `${name}${since}`)).toEqual(expected);
  });
});

describe('an injection of a later format, after the operator was rolled back [F13]', () => {
  it('is intact, and is removed whole: the record names what this version does not know', () => {
    fc.assert(
      fc.property(podTemplate(), fc.boolean(), (template, given) => {
        const own = { name: 'LUMIGO_LATER', value: 'mine' };
        const containers = template.spec.containers.map((each) => ({
          ...each,
          env: [...(each.env ?? []), ...(given ? [own] : []), { name: 'LAST', value: '1' }],
        }));
        const clean = { ...template, spec: { ...template.spec, containers } };
        const result = inject(clean, settings);
        if (result.refused !== undefined) return;
        const injected = asIfLater(result.template, own, given);
        expect(isIntact(injected, settings)).toBe(true);
        expect(remove(injected)).toEqual(clean);
      }),
      { numRuns: 300 },
    );
  });
});

function asIfLater(template: PodTemplate, own: { name: string; value: string }, given: boolean): PodTemplate {
  const record = getOriginalState(template) as { kept?: Record<string, { env?: object[] }> };
  const kept: Record<string, object> = { ...record.kept };
  const containers = template.spec.containers.map((each) => {
    if (lastNamed(each.env, 'LUMIGO_TRACER_TOKEN') === undefined) return each;
    if (each.volumeMounts?.some(({ name }) => name === 'lumigo-injector') !== true) return each;
    if (given) kept[each.name] = { ...kept[each.name], env: [...(record.kept?.[each.name]?.env ?? []), own] };
    const ours = { name: own.name, value: 'ours' };
    const env = each.env ?? [];
    return { ...each, env: given ? env.map((one) => (one.name === own.name ? ours : one)) : [...env, ours] };
  });
  const text = JSON.stringify({ ...record, kept, format: currentFormat + 1, variables: [own.name] });
  const metadata = {
    ...template.metadata,
    annotations: { ...template.metadata?.annotations, [annotations.injection]: text },
  };
  return { ...template, metadata, spec: { ...template.spec, containers } };
}

const judge = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decided(workload, { injector: later, ...more });

const clean = made({ env: [{ name: 'LUMIGO_ENDPOINT', value: 'http://mine' }] });

function instrumented(format: number): Workload {
  const result = inject(toTemplate(clean) as PodTemplate, settings, format);
  if (result.refused !== undefined) throw new Error(result.refused);
  return withTemplate(byWebhook(clean, { injector: settings }), result.template);
}

describe.each(formats)('a workload that format %d instrumented [F13, F23]', (format) => {
  const old = instrumented(format);

  it('is not changed by the reconciler of a later release, unless the settings renew it', () => {
    expect(judge(old)).toMatchObject({ kind: 'none', code: 'up-to-date' });
    expect(judge(old, { renew: true })).toMatchObject({ kind: 'inject', tried: 'update' });
  });

  it('gets its exact injection again if a tool sends the clean template', () => {
    const decision = judge(clean, { operation: 'UPDATE', old, by: 'webhook' });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'restored' });
    expect(changed(decision)).toEqual(old);
    expect(judge(changed(decision))).toMatchObject({ kind: 'none', code: 'up-to-date' });
  });

  it('is renewed if the tool sends another template', () => {
    const next = withContainers(clean, () => ({ image: 'app:2' }));
    const decision = judge(next, { operation: 'UPDATE', old, by: 'webhook' });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'update' });
    const after = toTemplate(changed(decision));
    expect(after?.spec.initContainers?.[0]?.['image']).toBe('autotrace:2');
    expect(getOriginalState(after)['format'] ?? 1).toBe(currentFormat);
  });

  it('is renewed if its Lumigo has changed', () => {
    const policy = activePolicy({ ...tracing, logs: true });
    const decision = judge(clean, { operation: 'UPDATE', old, by: 'webhook', policy });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'update', code: 'injected' });
  });
});
