import { describe, expect, it } from '@jest/globals';
import { isToken, tokenOrEmpty, withoutTokens } from './token.ts';

const tokens = [`t_${'0'.repeat(21)}`, 't_0123456789abcdefABCDE'];

describe('a Lumigo token', () => {
  it.each(tokens)('is one with digits of either case: %s', (token) => {
    expect(isToken(token)).toBe(true);
    expect(tokenOrEmpty.test(token)).toBe(true);
    expect(withoutTokens(`Error: value "${token}" and ${token}\nis not allowed`)).toBe(
      'Error: value "t_…" and t_…\nis not allowed',
    );
  });

  it.each(['', 't_', `t_${'0'.repeat(20)}`, `t_${'0'.repeat(22)}`, ` t_${'0'.repeat(21)}`, `t_${'g'.repeat(21)}`])(
    'is not: %j',
    (value) => {
      expect(isToken(value)).toBe(false);
      expect(tokenOrEmpty.test(value)).toBe(value === '');
    },
  );
});
