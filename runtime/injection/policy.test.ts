import { describe, expect, it } from '@jest/globals';
import { getPolicy, whenExcluded } from './policy.ts';
import type { LumigoResource } from '../api/lumigo.ts';

const lumigo = (name: string, creationTimestamp: string, more: object = {}, injection?: object): LumigoResource => ({
  apiVersion: 'operator.lumigo.io/v1alpha1',
  kind: 'Lumigo',
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, creationTimestamp, ...more },
  spec: { lumigoToken: { secretRef: { name: 's', key: 'k' } }, ...(injection && { tracing: { injection } }) },
  status: { conditions: [{ type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' }] },
});

describe('the effective Lumigo [D16]', () => {
  it('is the oldest, then the one with the smaller uid, in whatever order they are read', () => {
    const all = [
      lumigo('c', '2026-01-02T00:00:00Z'),
      lumigo('b', '2026-01-01T00:00:00Z'),
      lumigo('a', '2026-01-01T00:00:00Z'),
    ];
    for (const order of [all, all.toReversed()])
      expect(getPolicy(order)).toMatchObject({ kind: 'active', lumigo: 'a' });
  });

  it('is not one that is being deleted while another exists', () => {
    const going = lumigo('a', '2026-01-01T00:00:00Z', { deletionTimestamp: '2026-06-01T00:00:00Z' });
    expect(getPolicy([going, lumigo('b', '2026-01-02T00:00:00Z')])).toMatchObject({ kind: 'active', lumigo: 'b' });
    expect(getPolicy([going])).toEqual({ kind: 'deleting', lumigo: 'a', remove: true });
    expect(getPolicy([])).toEqual({ kind: 'none' });
  });

  it('counts in an excluded namespace only while it is being deleted', () => {
    const going = getPolicy([lumigo('a', '', { deletionTimestamp: '2026-06-01T00:00:00Z' })]);
    expect(whenExcluded(going)).toEqual({ ...going, isExcluded: true });
    expect(whenExcluded(getPolicy([lumigo('a', '')]))).toEqual({ kind: 'excluded' });
  });

  it.each([
    ['names no key', { spec: { lumigoToken: { secretRef: { name: 's' } } } }, 'SecretReferenceMissing'],
    ['names no Secret', { spec: { lumigoToken: { secretRef: { key: 'k' } } } }, 'SecretReferenceMissing'],
    ['is new', { status: undefined }, 'NotReconciled'],
  ])('is inactive if it %s', (_what, more, reason) => {
    const found = { ...lumigo('l', ''), ...more } as LumigoResource;
    expect(getPolicy([found])).toEqual({ kind: 'inactive', lumigo: 'l', reason });
  });

  it('has the settings for tracers', () => {
    const tracing = { enabled: false, env: [{ name: 'OTEL_SERVICE_NAME', value: 'shop' }] };
    const found = { ...lumigo('l', ''), spec: { ...lumigo('l', '').spec, tracing } };
    const env = { OTEL_SERVICE_NAME: { value: 'shop' } };
    expect(getPolicy([found])).toMatchObject({ kind: 'active', tracing: { traces: false, env } });
  });

  it('is inactive and says why if it sets a variable that the injection sets itself', () => {
    const named = lumigo('l', '');
    const spec = { ...named.spec, tracing: { env: [{ name: 'LUMIGO_ENDPOINT', value: 'http://elsewhere' }] } };
    const { message, ...policy } = getPolicy([{ ...named, spec }]) as { kind: string; message?: string };
    expect(policy).toEqual({ kind: 'inactive', lumigo: 'l', reason: 'TracerSettingRefused' });
    expect(message).toContain('LUMIGO_ENDPOINT');
  });

  it('is inactive with the message of the original operator, which writes no reasons', () => {
    const conditions = [{ type: 'Error', status: 'True', message: 'no key', lastTransitionTime: '' }];
    const found = { ...lumigo('l', ''), status: { conditions } } as unknown as LumigoResource;
    expect(getPolicy([found])).toEqual({ kind: 'inactive', lumigo: 'l', reason: 'no key' });
  });

  it('has the selector of the spec, and leaves existing workloads if it says so', () => {
    const selector = { matchLabels: { tier: 'web' } };
    const injection = { selector, injectLumigoIntoExistingResourcesOnCreation: false };
    expect(getPolicy([lumigo('l', '', {}, injection)])).toMatchObject({ selector, injectExisting: false });
    expect(getPolicy([lumigo('l', '')])).toMatchObject({
      injectExisting: true,
      tracing: { traces: true, logs: false },
    });
    expect(getPolicy([lumigo('l', '')])).not.toHaveProperty('selector');
  });

  it('is inactive in Pod mode, and in no other, if the installation does not offer that', () => {
    const inPodMode = lumigo('l', '', {}, { mode: 'Pod' });
    expect(getPolicy([inPodMode], 'Upgrade')).toMatchObject({ kind: 'inactive', reason: 'PodModeOff' });
    expect([getPolicy([inPodMode]), getPolicy([lumigo('l', '')], 'Upgrade')]).toMatchObject([
      { kind: 'pods', lumigo: 'l', tracing: { secretName: 's' } },
      { kind: 'active' },
    ]);
  });

  it.each([
    [{}, true],
    [{ removeLumigoFromResourcesOnDeletion: true }, true],
    [{ removeLumigoFromResourcesOnDeletion: false }, false],
  ])('with the injection %j sets removal to %s', (injection, remove) => {
    expect(getPolicy([lumigo('l', '', {}, injection)])).toMatchObject({ kind: 'active', remove });
  });
});
