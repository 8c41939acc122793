import { describe, expect, it } from '@jest/globals';
import { ABSENT, Either, merge } from './merge.ts';

const [a, b] = ['a', 'b'].map((name) => ({ name }));

describe('the merge of two renderings', () => {
  it.each<[what: string, base: unknown, other: unknown, merged: unknown]>([
    ['a key', {}, { added: 1 }, { added: new Either('other', 1, ABSENT) }],
    ['a longer list', [a, b], [a], [a, new Either('other', ABSENT, b)]],
    ['a shorter list', [a], [a, b], [a, new Either('other', b, ABSENT)]],
    ['a text', [a], 'none', new Either('other', 'none', [a])],
  ])('is no larger than the difference, for %s', (_what, base, other, merged) => {
    expect(merge(base, base, other, 'other')).toStrictEqual(merged);
  });
});
