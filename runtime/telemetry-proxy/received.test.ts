import { describe, expect, it } from '@jest/globals';
import { selectNew, UnknownUids } from './received.ts';

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

it('removes a uid that two looks a minute apart do not know, also while the list changes each second', () => {
  const unknown = new UnknownUids();
  const gone: [second: number, uids: readonly string[]][] = [];
  for (let second = 0; second <= 60; second += 1) {
    const found = unknown.look(new Set(['old', 'cart', `new-${second}`]), () => new Set(['cart']), second * 1_000);
    if (found.length > 0) gone.push([second, found]);
  }
  expect(gone).toEqual([[60, ['old']]]);
});

it('keeps a uid that the second look knows', () => {
  const unknown = new UnknownUids();
  const received = new Set(['late']);
  const looks = [new Set<string>(), received, new Set<string>()];
  expect(looks.flatMap((known, minute) => unknown.look(received, () => known, minute * 60_000))).toEqual([]);
});
