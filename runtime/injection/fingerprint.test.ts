import { describe, expect, it } from '@jest/globals';
import { fingerprint } from './fingerprint.ts';

describe('fingerprint()', () => {
  it.each([
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [{ a: 1 }, { a: 1, b: null, c: {}, d: [] }],
  ])('is the same for %j and %j, which an API server shows for the same', (one, other) => {
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
  ])('differs for %j and %j', (one, other) => {
    expect(fingerprint(one)).not.toBe(fingerprint(other));
  });
});
