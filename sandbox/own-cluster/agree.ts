import { createInterface } from 'node:readline/promises';

/** Asks before a cluster is changed. @throws Error without an agreement, or without a terminal to ask at */
export async function requireAgreement(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new Error('there is no terminal to ask at. Pass --yes to agree beforehand');
  const questions = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await questions.question(`${question} Continue? [y/N] `);
  questions.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was changed, because you did not agree');
}
