import { expect, it } from '@jest/globals';
import { abridged } from './abridged.ts';

it.each([
  { texts: [], most: 2, names: '', sentences: '' },
  { texts: ['a', 'b'], most: 2, names: 'a, b', sentences: 'a. b' },
  { texts: ['a', 'b', 'c', 'd'], most: 2, names: 'a, b, and 2 more', sentences: 'a. b. And 2 more' },
])('names at most $most of $texts.length texts, and the number of the others', ({ texts, most, names, sentences }) => {
  expect(abridged(texts, most)).toBe(names);
  expect(abridged(texts, most, '. ')).toBe(sentences);
});
