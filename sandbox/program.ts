import { Command } from 'commander';
import { describeError } from '../runtime/wording/errors.ts';

/** Returns a program of the command line, without options. */
export const createProgram = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError('(--help lists the options)');

/** Runs a program. If it fails, it exits with 1, and prints the failure as a sentence. */
export const runMain = (action: () => Promise<unknown>): Promise<unknown> =>
  action().catch((error: unknown) => {
    process.stderr.write(`\n${describeError(error)}\n`);
    process.exit(1);
  });
