import { describe, expect, it } from '@jest/globals';
import { isPlainObject } from '../../runtime/json/values.ts';
import { ABSENT, Either, merge } from './merge.ts';

/** Returns the rendering in which one condition holds, or none. */
function resolve(tree: unknown, holds: string | undefined): unknown {
  if (tree instanceof Either) return resolve(tree.condition === holds ? tree.then : tree.otherwise, holds);
  if (Array.isArray(tree)) return tree.map((each) => resolve(each, holds)).filter((each) => each !== ABSENT);
  if (!isPlainObject(tree)) return tree;
  const entries = Object.entries(tree).map(([key, value]) => [key, resolve(value, holds)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ABSENT));
}

const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name }));

describe('the merge of two renderings', () => {
  it.each<[what: string, base: unknown, other: unknown]>([
    ['a value', { port: 1, kept: 'x' }, { port: 2, kept: 'x' }],
    ['a key that only the other one has', { kept: 1 }, { kept: 1, added: { deep: true } }],
    ['a key that only the base has', { kept: 1, removed: [1] }, { kept: 1 }],
    ['a list that continues', { list: [a, b] }, { list: [a, b, c] }],
    ['a list that ends earlier', { list: [a, b, c] }, { list: [a] }],
    ['a list of other names', { list: [a, b] }, { list: [c] }],
    ['a list of texts', { list: ['x'] }, { list: ['x', 'y'] }],
    ['a list that becomes a text', { list: [a] }, { list: 'none' }],
  ])('has both, if they differ in %s', (_what, base, other) => {
    const merged = merge(base, base, other, 'other');
    expect(resolve(merged, undefined)).toStrictEqual(base);
    expect(resolve(merged, 'other')).toStrictEqual(other);
  });

  it('keeps the differences of former conditions', () => {
    const base = { port: 1, list: [a] };
    const first = merge(base, base, { port: 2, list: [a, b], first: 1 }, 'first');
    const both = merge(first, base, { port: 3, list: [a], second: 2 }, 'second');
    expect(resolve(both, undefined)).toStrictEqual(base);
    expect(resolve(both, 'first')).toStrictEqual({ port: 2, list: [a, b], first: 1 });
    expect(resolve(both, 'second')).toStrictEqual({ port: 3, list: [a], second: 2 });
  });

  it.each<[what: string, base: unknown, other: unknown, merged: unknown]>([
    ['a key', {}, { added: 1 }, { added: new Either('other', 1, ABSENT) }],
    ['a longer list', [a, b], [a], [a, new Either('other', ABSENT, b)]],
    ['a shorter list', [a], [a, b], [a, new Either('other', b, ABSENT)]],
  ])('is no larger than the difference, for %s', (_what, base, other, merged) => {
    expect(merge(base, base, other, 'other')).toStrictEqual(merged);
  });
});
