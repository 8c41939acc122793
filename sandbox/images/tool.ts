import { runMeanwhile } from '../run.ts';

/** Runs a program while this process continues. @throws Error with its output */
export async function tool(program: string, ...args: readonly string[]): Promise<void> {
  await runMeanwhile(program, args);
}
