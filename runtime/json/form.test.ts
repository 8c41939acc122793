import { describe, expect, it } from '@jest/globals';
import { flag, form, isShallow, listOf, mapOf, number, text } from './form.ts';

const check = form({ name: text }, { count: number, on: flag, list: listOf(text), map: mapOf(number) });
const withMore = (more: object) => ({ name: 'a', ...more });

describe('a form', () => {
  it.each<[string, object]>([
    ['its required field alone', { name: '' }],
    ['all of its fields, and another one', withMore({ count: 0, on: false, list: ['x'], map: { a: 1 }, more: {} })],
    ['an empty list and an empty map', withMore({ list: [], map: {} })],
  ])('accepts a map with %s', (_what, value) => expect(check(value)).toBe(true));

  it.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['a text', 'name'],
    ['a map without a required field', {}],
    ['a required field of another type', { name: 1 }],
    ['a text for a number', withMore({ count: '1' })],
    ['a text for a flag', withMore({ on: 'true' })],
    ['a text for a list', withMore({ list: 'x' })],
    ['a list with a number among the texts', withMore({ list: ['x', 1] })],
    ['a list for a map', withMore({ map: [1] })],
    ['a map with a text among the numbers', withMore({ map: { a: 1, b: '1' } })],
  ])('refuses %s', (_what, value) => expect(check(value)).toBe(false));
});

const nested = (levels: number): unknown => (levels === 0 ? 'text' : [nested(levels - 1), null]);

it('a value is shallow up to 100 levels', () => {
  expect([0, 100, 101].map((levels) => isShallow(nested(levels)))).toEqual([true, true, false]);
});
