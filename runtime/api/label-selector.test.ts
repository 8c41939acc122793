import { describe, expect, it } from '@jest/globals';
import { selects, type LabelSelector } from './label-selector.ts';

const labels = { app: 'cart', tier: '' };
const expression = (key: string, operator: string, ...values: readonly string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
});

describe('a label selector', () => {
  it.each<[string, LabelSelector, boolean]>([
    ['everything if it is empty', {}, true],
    ['a label with its value', { matchLabels: { app: 'cart' } }, true],
    ['an empty value', { matchLabels: { tier: '' } }, true],
    ['only all labels together', { matchLabels: { app: 'cart', tier: 'web' } }, false],
    ['a missing label', { matchLabels: { team: '' } }, false],
    ['a value in the list', expression('app', 'In', 'shop', 'cart'), true],
    ['a value outside the list', expression('app', 'In', 'shop'), false],
    ['no missing label by In', expression('team', 'In', ''), false],
    ['other values by NotIn', expression('app', 'NotIn', 'shop'), true],
    ['a missing label by NotIn', expression('team', 'NotIn', 'shop'), true],
    ['no value in the list of NotIn', expression('app', 'NotIn', 'cart'), false],
    ['a present label', expression('tier', 'Exists'), true],
    ['no missing label by Exists', expression('team', 'Exists'), false],
    ['no present label by DoesNotExist', expression('tier', 'DoesNotExist'), false],
    ['a missing label by DoesNotExist', expression('team', 'DoesNotExist'), true],
    ['no property that every object inherits', expression('constructor', 'Exists'), false],
    ['nothing by an unknown operator', expression('app', 'Like', 'c*'), false],
  ])('selects %s', (_what, selector, expected) => expect(selects(selector, labels)).toBe(expected));
});
