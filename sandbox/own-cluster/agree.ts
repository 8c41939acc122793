import { createInterface } from 'node:readline/promises';
import { needsAgreement, type Target } from './target.ts';

/** Asks before a cluster that may be remote is changed. @throws Error without an agreement, or without a terminal to ask at */
export async function requireAgreement(target: Target, question: string, yes: boolean): Promise<void> {
  if (yes || !needsAgreement(target)) return;
  if (!process.stdin.isTTY) throw new Error('there is no terminal to ask at. Pass --yes to agree beforehand');
  const questions = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await questions.question(`${question} Continue? [y/N] `);
  questions.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was changed, because you did not agree');
}
