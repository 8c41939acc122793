import { expect, it } from '@jest/globals';
import { findRemedy } from './remedies.ts';

it('gives a remedy for a decision without an injection, and none for the others', () => {
  expect(findRemedy('opted-out')).toBe('Remove the label.');
  for (const code of ['injected', 'opted-in', 'up-to-date', 'restored', 'relabelled', 'removed'] as const)
    expect(findRemedy(code)).toBeUndefined();
});
