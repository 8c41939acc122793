#!/usr/bin/env node
import { createProgram } from './cli/program.ts';
import { processShell } from './cli/shell.ts';
import { describeError, ConfigError } from './wording/errors.ts';
import { printable } from './wording/printable.ts';

createProgram(processShell())
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`lumigo: ${printable(describeError(error))}\n`);
    process.exit(error instanceof ConfigError ? 2 : 1);
  });
