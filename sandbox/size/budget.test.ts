import { describe, expect, it } from '@jest/globals';
import { budgetIn, isProgram, overBudget } from './budget.ts';

const page = ['| folder | lines |', '|---|---|', '| `infra` | 10 |', '| `runtime/webhook` | 20 |', ''].join('\n');

describe('a budget of lines', () => {
  it('is read from the table of a page', () => {
    expect([...budgetIn(page)]).toEqual([
      ['infra', 10],
      ['runtime/webhook', 20],
    ]);
  });

  it('counts TypeScript and JavaScript without tests', () => {
    const files = ['a.ts', 'a.js', 'a.mjs', 'a.test.ts', 'a.cluster.test.ts', 'a.json', 'a.yaml', 'a.py'];
    expect(files.filter(isProgram)).toEqual(['a.ts', 'a.js', 'a.mjs']);
  });

  it.each([
    ['accepts a folder within its budget', new Map([['infra', 10]]), []],
    ['reports a folder beyond its budget', new Map([['infra', 11]]), ['infra has 11 lines, and its budget is 10.']],
    ['reports a folder without a budget', new Map([['other', 1]]), ['other has 1 lines and no budget.']],
  ])('%s', (_title, lines, problems) => expect(overBudget(lines, budgetIn(page))).toEqual(problems));
});
