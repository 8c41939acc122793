import { expect, it } from '@jest/globals';
import { formatKnown, lowered, outdated, overdrawn, parseKnown } from './known.ts';

const known = parseKnown('5 a.md\n2 b.md\n');

it('writes the list sorted by file, without files that pass', () => {
  expect(formatKnown(new Map([['c.md', 0], ...[...known].toReversed()]))).toBe('5 a.md\n2 b.md\n');
});

it('reads the higher of two numbers that a merge left', () => {
  const merged = '<<<<<<< ours\n5 a.md\n=======\n3 a.md\n2 b.md\n>>>>>>> theirs\n';
  expect(formatKnown(parseKnown(merged))).toBe('5 a.md\n2 b.md\n');
});

it('fails a file with more findings than the list has, and a new file with any', () => {
  const counts = new Map(Object.entries({ 'a.md': 6, 'b.md': 2, 'new.md': 1, 'good.md': 0 }));
  expect(overdrawn(known, counts)).toEqual(['a.md', 'new.md']);
});

it('fails a file with fewer findings than the list has, and one that no longer exists', () => {
  expect(outdated(known, new Map([['a.md', 4]]))).toEqual(['a.md', 'b.md']);
  expect(outdated(known, known)).toEqual([]);
});

it('lowers numbers, and neither raises one nor adds a file', () => {
  const counts = new Map(Object.entries({ 'a.md': 3, 'b.md': 9, 'new.md': 1 }));
  expect(formatKnown(lowered(known, counts))).toBe('3 a.md\n2 b.md\n');
  expect(formatKnown(lowered(known, new Map()))).toBe('');
});
