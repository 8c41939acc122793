import { expect, it } from '@jest/globals';
import { renderTable } from './table.ts';

const rows = [
  ['NAME', 'RESULT', 'DETAILS'],
  ['cart', { text: 'ok', tone: 'good' as const }, 'short'],
  ['payments', { text: 'failed', tone: 'bad' as const }, 'two\nlines'],
];

it('aligns columns, whatever the colors', () => {
  expect(renderTable(rows, (_tone, text) => text).split('\n')).toEqual([
    'NAME      RESULT  DETAILS',
    'cart      ok      short',
    'payments  failed  two lines',
  ]);
  expect(renderTable(rows, (tone, text) => (tone === 'bad' ? `<${text}>` : text))).toContain('payments  <failed>  two');
});
