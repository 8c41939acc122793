import { describe, expect, it } from '@jest/globals';
import { initResources } from './init-resources.ts';
import type { Resources } from '../api/objects.ts';

const resourcesFor = (...resources: readonly Resources[]) =>
  initResources({ containers: resources.map((each, index) => ({ name: `c${index}`, resources: each })) });

const both = (amounts: Record<string, string>): Resources => ({ limits: amounts, requests: amounts });

describe('the init container', () => {
  it.each<readonly [string, readonly Resources[], Resources]>([
    [
      'requests what the container requests that asks for most, if that is little',
      [{ requests: { cpu: '50m', memory: '16Mi' } }, { requests: { cpu: '0.02', memory: '65536Ki' } }],
      { requests: { cpu: '50m', memory: '65536Ki' } },
    ],
    [
      'requests a small fixed amount if a container requests more',
      [{ requests: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '1G' } }, { requests: { cpu: '100m' } }],
      { requests: { cpu: '100m', memory: '64Mi', 'ephemeral-storage': '64Mi' } },
    ],
    [
      'has limits in the ratio of the container that requests most',
      [
        { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '3', memory: '24Gi' } },
        { requests: { cpu: '100m' }, limits: { cpu: '8' } },
      ],
      { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '150m', memory: '1536Mi' } },
    ],
    [
      'has no limit if the container that requests most has none',
      [{ requests: { cpu: '1' } }, { requests: { cpu: '100m' }, limits: { cpu: '8' } }],
      { requests: { cpu: '100m' } },
    ],
    [
      'requests as much as its limit if a container has a limit alone',
      [{ limits: { memory: '32Mi' } }],
      both({ memory: '32Mi' }),
    ],
    [
      'has no empty limit, which the open definition of a Rollout stores',
      [{ requests: { cpu: '1', memory: '8Mi' }, limits: { cpu: null, memory: null } as never }],
      { requests: { cpu: '100m', memory: '8Mi' } },
    ],
    ['gets no GPU', [{ limits: { 'nvidia.com/gpu': '1', cpu: '1' } }], both({ cpu: '100m' })],
  ])('%s [D46, F72]', (_what, containers, expected) => {
    expect(resourcesFor(...containers)).toEqual(expected);
  });
});
