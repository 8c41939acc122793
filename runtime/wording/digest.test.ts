import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { digest } from './digest.ts';

describe('a digest', () => {
  it('differs for different texts, and never has more than 64 characters [F66]', () => {
    const text = fc.oneof(fc.string(), fc.string({ minLength: 60, maxLength: 2_000 }));
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(digest(one).length).toBeLessThanOrEqual(64);
        expect(digest(one) === digest(other)).toBe(one === other);
      }),
    );
  });
});
