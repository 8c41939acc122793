import { createProgram } from './cli/command-line.ts';
import { describeError, ConfigError } from './wording/errors.ts';
import { printable } from './wording/printable.ts';

/** The one program of the operator's image: the manager, and everything that is asked of it from a command line. */
createProgram({
  print: (text) => process.stdout.write(`${printable(text)}\n`),
  environment: process.env,
})
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`lumigo-operator: ${printable(describeError(error))}\n`);
    process.exit(error instanceof ConfigError ? 2 : 1);
  });
