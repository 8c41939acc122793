import { describe, expect, it } from '@jest/globals';
import {
  changed,
  decided,
  injected,
  instrumented as byWebhook,
  made,
  settings,
  tracing,
  withContainers,
  withRecord,
  activePolicy,
} from '../../sandbox/testing/injection.ts';
import { annotations } from '../contract.ts';
import type { DecisionInput } from './decision.ts';
import { inject } from './inject.ts';
import { isCurrent, isIntact } from './intact.ts';
import { forEveryInjected } from '../../sandbox/testing/arbitrary/injected-template.ts';
import { remove } from './remove.ts';
import type { InjectionSettings } from './types.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { currentFormat, variables, getVariables } from './variables.ts';
import { toTemplate, withTemplate } from './workload.ts';

/** No release had format 0. It writes no variable, so later formats add all of them. */

const later: InjectionSettings = { ...settings, version: '2.0.0', image: 'autotrace:2' };
const elsewhere: InjectionSettings = { ...later, endpoint: 'http://elsewhere' };
const formats = Array.from({ length: currentFormat + 1 }, (_, format) => format);

type Injected = { readonly template: PodTemplate };

const getOriginalState = (template: PodTemplate | undefined) =>
  JSON.parse(template?.metadata?.annotations?.[annotations.injection] ?? '{}') as Record<string, unknown>;

describe('an injection of an earlier format [F13]', () => {
  it('is intact, removed whole and renewed under every later one, and current only under its own', () => {
    forEveryInjected(200, (clean) => {
      for (const format of formats) {
        const { template } = inject(clean, settings, format) as Injected;
        expect(isIntact(template, elsewhere)).toBe(true);
        expect(isCurrent(template, settings)).toBe(format === currentFormat);
        // A user's variable of a later name stays.
        expect(remove(template)).toEqual(clean);
        expect(inject(template, later)).toEqual(inject(clean, later));
      }
    });
  });

  it.each(formats)('has the variables of its format %d, which its record names unless it is the first', (format) => {
    const { template } = inject({ spec: { containers: [{ name: 'app' }] } }, settings, format) as Injected;
    const names = template.spec.containers[0]?.env?.map(({ name }) => name);
    expect(names).toEqual(variables.filter(({ since }) => since <= format).map(({ name }) => name));
    expect(getOriginalState(template)['format']).toBe(format === 1 ? undefined : format);
  });
});

describe('the record of an injection', () => {
  it('has the settings and the injector alone if the injection replaces nothing', () => {
    const { template } = inject({ spec: { containers: [{ name: 'app' }] } }, settings) as Injected;
    const { endpoint, image } = settings;
    const injector = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(getOriginalState(template)).toEqual({ ...tracing, endpoint, image, pullSecrets: ['registry'], injector });
  });

  it('removes no variable that it names in the present format, which has none to name', () => {
    const clean = { spec: { containers: [{ name: 'app', env: [{ name: 'OWN', value: '1' }] }] } };
    const forged = withRecord(injected(clean) as PodTemplate, (record) => ({ ...record, variables: ['OWN'] }));
    expect(remove(forged)).toEqual(clean);
  });
});

describe('the variables of a format [F13]', () => {
  const row = (name: string, since: number) => ({ name, since, write: () => ({ value: `${since}` }) });
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
  const unknown = { name: 'LUMIGO_LATER', value: 'ours' };
  const last = { name: 'LAST', value: '1' };

  it.each([
    ['alone', undefined],
    ['in place of one of the user', { name: unknown.name, value: 'mine' }],
  ])('is intact, and is removed whole with a variable that is unknown, %s', (_how, own) => {
    const env = own === undefined ? [last] : [own, last];
    const clean: PodTemplate = { spec: { containers: [{ name: 'app', env }] } };
    const kept = own === undefined ? {} : { kept: { app: { env: [own] } } };
    const format = { format: currentFormat + 1, variables: [unknown.name] };
    const { metadata, spec } = withRecord(injected(clean) as PodTemplate, (record) => ({
      ...record,
      ...kept,
      ...format,
    }));
    const containers = spec.containers.map(({ env: before = [], ...rest }) => {
      const replaced = before.map((each) => (each.name === unknown.name ? unknown : each));
      return { ...rest, env: own === undefined ? [...before, unknown] : replaced };
    });
    const written = { metadata, spec: { ...spec, containers } } as PodTemplate;
    expect(isIntact(written, settings)).toBe(true);
    expect(remove(written)).toEqual(clean);
  });
});

const judge = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decided(workload, { injector: later, ...more });

const clean = made({ env: [{ name: 'LUMIGO_ENDPOINT', value: 'http://mine' }] });

function instrumented(format: number): Workload {
  const { template } = inject(toTemplate(clean) as PodTemplate, settings, format) as Injected;
  return withTemplate(byWebhook(clean, { injector: settings }), template);
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
