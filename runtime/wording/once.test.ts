import { expect, it } from '@jest/globals';
import { once } from './once.ts';

it('passes on each text only the first time', () => {
  const printed: string[] = [];
  const print = once((text) => void printed.push(text));
  for (const text of ['a', 'b', 'a', 'a']) print(text);
  expect(printed).toEqual(['a', 'b']);
});
