import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRetryAfter, parseWarnings } from './headers.ts';

describe('parseWarnings', () => {
  it('takes the text of each 299', () =>
    expect(parseWarnings(['299 - "v1beta1 is deprecated"', '299 - "one", 299 - "two"'])).toEqual([
      'v1beta1 is deprecated',
      'one',
      'two',
    ]));

  it('is not misled by commas, codes and quotes inside a text', () =>
    expect(parseWarnings([String.raw`299 - "say \"299 - no\", then \\ stop"`])).toEqual([
      String.raw`say "299 - no", then \ stop`,
    ]));

  it('leaves a cache alone', () => expect(parseWarnings(['110 proxy "Response is stale"'])).toEqual([]));

  it('gives back whatever text was quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        const header = texts.map((text) => `299 - "${text.replace(/["\\]/g, String.raw`\$&`)}"`).join(', ');
        expect(parseWarnings([header])).toEqual(texts);
      }),
    );
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  it.each([
    ['7', 7],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30],
    ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('%s', (header, seconds) => expect(parseRetryAfter(header, now)).toBe(seconds));
});
