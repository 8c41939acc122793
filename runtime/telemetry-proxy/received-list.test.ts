import { describe, expect, it } from '@jest/globals';
import { selectNew } from './received-list.ts';

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('the list of received uids', () => {
  it('takes new uids while it is smaller than 1 MiB, and those that it has already', () => {
    const listed = new Set(numbered('old', 19_998));
    expect(selectNew(['old7', 'a', 'b', 'c'], listed)).toEqual(['a', 'b']);
    expect(selectNew(['a'], new Set(numbered('old', 20_000)))).toEqual([]);
    expect(selectNew(['a', 'b'], new Set(['a']))).toEqual(['b']);
  });
});
