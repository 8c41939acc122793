import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { budgetIn, isProgram, overBudget } from './budget.ts';

/** Checks the lines of each folder against the budget in an ADR, so only another ADR can raise it. `--list` prints the lines. */

const ADR = 'docs/contributing/adr/0038-line-budget.md';
const TREES = ['runtime', 'infra', 'sandbox', 'bench'];

const lines = new Map<string, number>();
for (const tree of TREES)
  for (const name of readdirSync(tree, { recursive: true, encoding: 'utf8' })) {
    if (!isProgram(name)) continue;
    const file = join(tree, name);
    const folder = dirname(file).split('/').slice(0, 2).join('/');
    lines.set(folder, (lines.get(folder) ?? 0) + readFileSync(file, 'utf8').split('\n').length - 1);
  }
if (process.argv.includes('--list'))
  for (const [folder, found] of [...lines].toSorted()) process.stdout.write(`| \`${folder}\` | ${found} |\n`);
const problems = overBudget(lines, budgetIn(readFileSync(ADR, 'utf8')));
for (const problem of problems)
  process.stderr.write(`${problem} Remove lines, or write an ADR that replaces ${ADR}.\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
