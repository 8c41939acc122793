import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { printable } from './printable.ts';

it('removes control sequences, and keeps every other character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(/(?![\t\n])\p{Cc}/u);
      expect(printable(text)).toHaveLength(text.length);
    }),
  );
  expect(printable('a\u001b[31mb\u009b2Jc\td\n')).toBe('a�[31mb�2Jc\td\n');
  expect(printable('🚀'.slice(1) + '🚀'.slice(0, 1))).toBe('��');
  const ofDirection = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
  expect(printable(`${ofDirection}\u2028\u2029`)).toBe('�'.repeat(14));
  expect(printable('größer – 大 🚀')).toBe('größer – 大 🚀');
});
