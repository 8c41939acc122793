import { runMeanwhile } from '../run.ts';

/** Runs a program of this machine to its end, while others go on. @throws Error with what it said */
export async function tool(program: string, ...args: readonly string[]): Promise<void> {
  await runMeanwhile(program, args);
}
