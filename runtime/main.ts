#!/usr/bin/env node
import { createProgram } from './cli/program.ts';
import { describeError, ConfigError } from './wording/errors.ts';
import { printable } from './wording/printable.ts';

/** The one program of the operator's image: `lumigo`. */
createProgram({
  print: (text) => process.stdout.write(`${printable(text)}\n`),
  note: (text) => process.stderr.write(`${printable(text)}\n`),
  environment: process.env,
})
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`lumigo: ${printable(describeError(error))}\n`);
    process.exit(error instanceof ConfigError ? 2 : 1);
  });
