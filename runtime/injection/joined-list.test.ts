import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { includes, join, part } from './joined-list.ts';

const entry = fc.stringMatching(/^\/[a-c]{1,2}\.so$/);
const ours = '/ours.so';
const separator = fc.constantFrom(':', ',', ' ', '  ', ': ');

const written = fc
  .tuple(
    fc.array(fc.tuple(fc.oneof(entry, fc.constant(ours)), separator), { maxLength: 4 }),
    fc.option(separator, { nil: '' }),
    fc.boolean(),
  )
  .map(([pieces, before, trailing]) => {
    const text = before + pieces.map((piece) => piece.join('')).join('');
    return trailing ? text : text.replace(/[:,\s]+$/, '');
  });

const getEntries = (text: string) => text.split(/[:,\s]+/).filter((piece) => piece !== '');

describe('joined lists', () => {
  it('contain our entry once it is joined, and every entry of the user in order', () => {
    fc.assert(
      fc.property(written, fc.constantFrom(':', ','), (text, between) => {
        const joined = join(text, ours, between);
        expect(includes(joined, ours)).toBe(true);
        expect(join(joined, ours, between)).toBe(joined);
        expect(joined.startsWith(text)).toBe(true);
        expect(getEntries(joined).filter((each) => each !== ours)).toEqual(
          getEntries(text).filter((each) => each !== ours),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("contain the user's entries in order without ours", () => {
    fc.assert(
      fc.property(written, (text) => {
        const rest = part(text, ours);
        const others = getEntries(text).filter((each) => each !== ours);
        expect(getEntries(rest ?? '')).toEqual(others);
        expect(rest === undefined).toBe(others.length === 0);
        if (rest !== undefined) expect(part(rest, ours)).toBe(rest);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are separated into what was joined', () => {
    // A text that ends with a separator cannot be told apart, so the record of the injection has it (original-state.ts).
    const others = written.filter((text) => /[^:,\s]$/.test(text) && !includes(text, ours));
    fc.assert(
      fc.property(others, (text) => expect(part(join(text, ours, ':'), ours)).toBe(text)),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['/ours.so:/a.so /b.so', '/a.so /b.so'],
    ['/a.so:/ours.so:/b.so', '/a.so:/b.so'],
    [',,/ours.so:/a.so', ':/a.so'],
  ])('%s is separated into %s', (joined, expected) => {
    expect(part(joined, ours)).toBe(expected);
  });
});
