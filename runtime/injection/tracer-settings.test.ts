import { describe, expect, it } from '@jest/globals';
import { activePolicy, changed, decided, instrumented, made, tracing } from '../../sandbox/testing/injection.ts';
import type { TracerSetting } from '../api/lumigo.ts';
import { environment } from '../contract.ts';
import { essentialLumigo } from '../lumigo/essential-lumigo.ts';
import { uninstrument } from './remove.ts';
import { getTracerVariables, injectionsOwn, tracerSettings, whyRefused } from './tracer-settings.ts';
import { toTemplate } from './workload.ts';
import type { Workload } from '../api/objects.ts';

const policyWith = (settings: readonly TracerSetting[]) =>
  activePolicy({ ...tracing, env: getTracerVariables(settings) });
const masking = { name: 'LUMIGO_SECRET_MASKING_REGEX', value: '["password"]' };
const service = { name: 'OTEL_SERVICE_NAME', value: 'shop' };
const fromSecret = { name: 'OTEL_EXPORTER_OTLP_HEADERS', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } };

const withOwn = (...env: readonly object[]) => made({ pod: { containers: [{ name: 'app', image: 'app:1', env }] } });
const variablesIn = (workload: Workload) =>
  toTemplate(workload)?.spec.containers[0]?.env?.filter(({ name }) => !injectionsOwn.includes(name));

describe('the settings for tracers', () => {
  it('are variables of each injected container, with optional references', () => {
    const injected = instrumented(made(), { policy: policyWith([masking, fromSecret]) });
    const { secretKeyRef } = fromSecret.valueFrom;
    const reference = { name: fromSecret.name, valueFrom: { secretKeyRef: { ...secretKeyRef, optional: true } } };
    expect(variablesIn(injected)).toEqual([masking, reference]);
  });

  it.each([
    ['another', { ...service, value: 'own' }],
    ['the same', service],
    ['a referenced', { name: service.name, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  ])("give way to %s value of the container's own, which stays after the removal", (_which, own) => {
    const before = withOwn(own);
    const injected = instrumented(before, { policy: policyWith([service, masking]) });
    expect(variablesIn(injected)).toEqual([own, masking]);
    expect(decided(injected, { policy: policyWith([service, masking]) }).code).toBe('up-to-date');
    expect(uninstrument(injected)).toEqual(before);
  });

  it.each([
    ['gains', [masking], [masking, service]],
    ['loses', [masking, service], [service]],
    ['changes', [service], [{ ...service, value: 'bank' }]],
  ])('update an injection if the list %s a setting, and the removal is exact', (_what, first, second) => {
    const before = withOwn({ name: 'OTHER', value: '1' });
    const updated = decided(instrumented(before, { policy: policyWith(first) }), { policy: policyWith(second) });
    expect(updated).toMatchObject({ kind: 'inject', tried: 'update' });
    expect(variablesIn(changed(updated))).toEqual([{ name: 'OTHER', value: '1' }, ...second]);
    expect(uninstrument(changed(updated))).toEqual(before);
  });

  it.each<[string, readonly TracerSetting[] | undefined, readonly TracerSetting[] | undefined]>([
    ['another order', [masking, service], [service, masking]],
    ['an empty list', [], undefined],
    ['no list', undefined, []],
  ])('change no injection if %s replaces its equivalent', (_which, after, before) => {
    const policyOf = (list: readonly TracerSetting[] | undefined) =>
      activePolicy({ ...tracing, ...(list && { env: getTracerVariables(list) }) });
    const injected = instrumented(made(), { policy: policyOf(before) });
    for (const list of [before, after])
      for (const renew of [false, true])
        expect(decided(injected, { policy: policyOf(list), renew }).code).toBe('up-to-date');
  });

  it('keep a value that a user wrote over one of them', () => {
    const injected = instrumented(withOwn(), { policy: policyWith([service]) });
    const written = JSON.stringify(injected).replace('"value":"shop"', '"value":"users"');
    const removed = uninstrument(JSON.parse(written) as Workload);
    expect(variablesIn(removed)).toEqual([{ ...service, value: 'users' }]);
  });

  it.each([...injectionsOwn, 'PATH', 'otel_service_name', 'OTEL_', ''])('cannot be called "%s"', (name) => {
    const why = whyRefused([service, { name, value: 'x' }]);
    expect(why).toMatch(injectionsOwn.includes(name) ? 'the injection sets itself' : 'LUMIGO_ or OTEL_');
  });

  it('may be called by any other name of tracers', () => {
    expect(whyRefused([masking, service, fromSecret])).toBeUndefined();
    expect(injectionsOwn).toContain(environment.endpoint);
  });

  it('fit into memory if they are as long as they may be', () => {
    const { MAX_CHARACTERS, MAX_SETTINGS } = tracerSettings;
    const value = '"'.repeat(MAX_CHARACTERS / MAX_SETTINGS - 20);
    const env = Array.from({ length: MAX_SETTINGS }, (_, index) => ({ name: `OTEL_SETTING_NUMBER_${index}`, value }));
    const spec = { tracing: { env } };
    const metadata = { namespace: 'shop', name: 'lumigo', uid: 'l' };
    expect(essentialLumigo({ apiVersion: 'v1', kind: 'Lumigo', metadata, spec }).spec).toEqual(spec);
  });
});
