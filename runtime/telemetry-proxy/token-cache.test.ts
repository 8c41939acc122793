import { describe, expect, it } from '@jest/globals';
import { TokenCache } from './token-cache.ts';

const TRANSITION_MS = 60 * 60_000;

const here = (token: string | undefined) => new Map([['shop/credentials/token', token]]);

describe('the tokens that are let in', () => {
  it.each([
    ['are those that stand in the Secrets', [[here('a'), 0]], ['a']],
    [
      'are each let in once, sorted',
      [
        [
          new Map([
            ['1', 'b'],
            ['2', 'a'],
            ['3', 'b'],
          ]),
          0,
        ],
      ],
      ['a', 'b'],
    ],
    [
      'go on for an hour after they were replaced',
      [
        [here('a'), 0],
        [here('b'), 5],
        [here('b'), TRANSITION_MS + 4],
      ],
      ['a', 'b'],
    ],
    [
      'and no longer',
      [
        [here('a'), 0],
        [here('b'), 5],
        [here('b'), TRANSITION_MS + 5],
      ],
      ['b'],
    ],
    [
      'end where no token stands any more',
      [
        [here('a'), 0],
        [here('b'), 5],
        [here(undefined), 6],
      ],
      [],
    ],
    [
      'do not come back with another token',
      [
        [here('a'), 0],
        [here(undefined), 5],
        [here('b'), 6],
      ],
      ['b'],
    ],
    [
      'end when nobody names their source any more',
      [
        [here('a'), 0],
        [new Map(), 5],
      ],
      [],
    ],
  ] satisfies [string, [Map<string, string | undefined>, number][], string[]][])('%s', (_what, steps, expected) => {
    const book = new TokenCache();
    expect(steps.map(([tokens, now]) => book.letIn(tokens, now)).at(-1)).toEqual(expected);
  });
});
