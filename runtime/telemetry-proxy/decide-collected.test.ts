import { describe, expect, it } from '@jest/globals';
import type { LumigoResource } from '../injection/types.ts';
import { telemetryOf } from './decide-collected.ts';

const lumigo = (active: string, more: object = {}, metadata: object = {}): LumigoResource =>
  ({
    apiVersion: 'operator.lumigo.io/v1alpha1',
    kind: 'Lumigo',
    metadata: { name: 'lumigo', namespace: 'shop', uid: 'u', ...metadata },
    spec: { lumigoToken: { secretRef: { name: 's', key: 'k' } }, ...more },
    status: { conditions: [{ type: 'Active', status: active }] },
  }) as unknown as LumigoResource;

const nothing = { letIn: false, collect: false };

describe('the telemetry of a namespace', () => {
  it.each([
    ['without a Lumigo', undefined, nothing],
    ['with an active one', lumigo('True'), { letIn: true, collect: true }],
    ['D39: with an inactive one', lumigo('False'), nothing],
    ['with one that was never looked at', { ...lumigo('True'), status: {} }, nothing],
    [
      'with kubeEvents off',
      lumigo('True', { infrastructure: { kubeEvents: { enabled: false } } }),
      { letIn: true, collect: false },
    ],
    [
      'with infrastructure off',
      lumigo('True', { infrastructure: { enabled: false } }),
      { letIn: true, collect: false },
    ],
    ['with an empty infrastructure', lumigo('True', { infrastructure: {} }), { letIn: true, collect: true }],
    [
      'whose Lumigo is being deleted',
      lumigo('False', {}, { deletionTimestamp: 'now' }),
      { letIn: true, collect: false },
    ],
  ])('%s', (_case, acting, expected) => {
    expect(telemetryOf(acting as LumigoResource | undefined)).toEqual(expected);
  });
});
