import { describe, expect, it } from '@jest/globals';
import { borrowedResources, parseQuantity } from './borrowed-resources.ts';
import type { Resources } from './types.ts';

const borrowed = (...resources: readonly Resources[]) =>
  borrowedResources({ containers: resources.map((each, index) => ({ name: `c${index}`, resources: each })) });

describe('D46: what the init container asks for', () => {
  it.each<readonly [string, readonly Resources[], Resources]>([
    ['nothing, of a pod that asks for nothing', [{}, {}], {}],
    [
      'the most that one container asks for, of each resource by itself',
      [{ requests: { cpu: '500m', memory: '64Mi' } }, { requests: { cpu: '0.25', memory: '1Gi' } }],
      { requests: { cpu: '500m', memory: '1Gi' } },
    ],
    [
      'the limit that goes with that request',
      [{ requests: { cpu: '1' } }, { requests: { cpu: '100m' }, limits: { cpu: '8' } }],
      { requests: { cpu: '1' } },
    ],
    [
      'a limit alone as a request, too, as the API server takes it',
      [{ limits: { memory: '128Mi' } }],
      { limits: { memory: '128Mi' }, requests: { memory: '128Mi' } },
    ],
    ['no GPU', [{ limits: { 'nvidia.com/gpu': '1', cpu: '1' } }], { limits: { cpu: '1' }, requests: { cpu: '1' } }],
  ])('is %s', (_what, containers, expected) => {
    expect(borrowed(...containers)).toEqual(expected);
  });
});

describe('a quantity', () => {
  it.each([
    ['100m', 0.1],
    ['2', 2],
    [2, 2],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['1e3', 1000],
    ['1E3', 1000],
    ['1E', 1e18],
    ['1Ki', 1024],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['250M', 250e6],
    ['5k', 5000],
    ['0', 0],
  ])('%s is %d', (quantity, expected) => {
    expect(parseQuantity(quantity)).toBe(expected);
  });

  it.each(['', 'x', '1 Gi', '1gi', 'Mi'])('%j is none', (quantity) => {
    expect(parseQuantity(quantity)).toBeUndefined();
  });
});
