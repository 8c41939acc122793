import { describe, expect, it } from '@jest/globals';
import { fingerprint } from './fingerprint.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + '1' + ']'.repeat(depth));

describe('fingerprint()', () => {
  it.each([
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [{ a: 1 }, { a: 1, b: null, c: {}, d: [] }],
  ])('is the same of %j and %j, which an API server shows for the same', (one, other) => {
    expect(fingerprint(one)).toBe(fingerprint(other));
  });

  it.each([
    [{ a: 1 }, { a: 2 }],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: '1' }, { a: 1 }],
    [{ a: 'x,b' }, { a: 'x', b: '' }],
  ])('is another of %j and %j', (one, other) => {
    expect(fingerprint(one)).not.toBe(fingerprint(other));
  });

  it('F20: looks no deeper than an object can be that an API server shows', () => {
    expect(() => fingerprint(nested(100_000))).not.toThrow();
  });
});
