/** The lines of program that a folder has, or may have at most. Tests do not count. */
export type Lines = ReadonlyMap<string, number>;

/** Returns the budget of each folder in the table of a page: rows such as "| `runtime/webhook` | 800 |". */
export const budgetIn = (page: string): Lines =>
  new Map(
    [...page.matchAll(/^\| `([a-z0-9/-]+)` \| (\d+) \|$/gm)].map(([, folder = '', most]) => [folder, Number(most)]),
  );

/** Returns a sentence for each folder that has more lines than its budget, or that has no budget. */
export function overBudget(lines: Lines, budget: Lines): string[] {
  const problems: string[] = [];
  for (const [folder, found] of lines) {
    const most = budget.get(folder);
    if (most === undefined) problems.push(`${folder} has ${found} lines and no budget.`);
    else if (found > most) problems.push(`${folder} has ${found} lines, and its budget is ${most}.`);
  }
  return problems;
}
