#!/usr/bin/env node
import { createProgram } from './cli/program.ts';
import { processShell } from './cli/shell.ts';
import { describeError, ConfigError } from './wording/errors.ts';
import { printable } from './wording/printable.ts';

// A reader of the output, such as `head`, may end first. SIGPIPE ends other programs with this exit code.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(141);
  });

createProgram(processShell())
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`lumigo: ${printable(describeError(error))}\n`);
    process.exit(error instanceof ConfigError ? 2 : 1);
  });
