/** The lines of program of each folder, or the most that it may have. Tests do not count. */
export type Lines = ReadonlyMap<string, number>;

export const isProgram = (file: string): boolean => /\.(ts|m?js)$/.test(file) && !file.endsWith('.test.ts');

/** Reads a page's table, with rows such as "| `runtime/webhook` | 800 |". */
export const budgetIn = (page: string): Lines =>
  new Map(
    [...page.matchAll(/^\| `([a-z0-9/-]+)` \| (\d+) \|$/gm)].map(([, folder = '', most]) => [folder, Number(most)]),
  );

export function overBudget(lines: Lines, budget: Lines): string[] {
  const problems: string[] = [];
  for (const [folder, found] of lines) {
    const most = budget.get(folder);
    if (most === undefined) problems.push(`${folder} has ${found} lines and no budget.`);
    else if (found > most) problems.push(`${folder} has ${found} lines, and its budget is ${most}.`);
  }
  return problems;
}
