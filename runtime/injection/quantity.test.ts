import { describe, expect, it } from '@jest/globals';
import { parseQuantity, writeQuantity } from './quantity.ts';

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
    ['1n', 1e-9],
    ['1u', 1e-6],
    ['1G', 1e9],
    ['1T', 1e12],
    ['1P', 1e15],
    ['1Mi', 2 ** 20],
    ['1Ti', 2 ** 40],
    ['1Pi', 2 ** 50],
    ['1Ei', 2 ** 60],
  ])('%s is %d', (quantity, expected) => {
    expect(parseQuantity(quantity)).toBe(expected);
  });

  it.each(['', 'x', '1 Gi', '1gi', 'Mi'])('%j is not a quantity', (quantity) => {
    expect(parseQuantity(quantity)).toBeUndefined();
  });
});

it.each([
  [0.25, 'cores', '250m'],
  [0.1 + 0.2, 'cores', '300m'],
  [0.29 * 100, 'cores', '29'],
  [2.0009, 'cores', '2'],
  [100.5 * 2 ** 20, 'bytes', '100Mi'],
  [3 * 2 ** 30, 'bytes', '3Gi'],
  [1536 * 2 ** 20, 'bytes', '1536Mi'],
  [2_000, 'cores', '2k'],
  [5 * 2 ** 40, 'bytes', '5Ti'],
  [2 ** 60, 'bytes', '1024Pi'],
] as const)('%d %s are written as %s', (amount, unit, expected) => {
  expect(writeQuantity(amount, unit)).toBe(expected);
});
