import { describe, expect, it } from '@jest/globals';
import { createProgram } from './command-line.ts';

const commands = [
  ['--preview'],
  ['--explain', 'deployment/cart'],
  ['--uninstall'],
  ['--update'],
  ['--prepare-telemetry-proxy'],
];
const pairs = commands.flatMap((first) => commands.flatMap((second) => (first === second ? [] : [[first, second]])));

describe('the command line', () => {
  it.each(pairs)('F12: refuses %j together with %j, whichever comes first', async (first, second) => {
    const program = createProgram({ print: () => undefined, environment: {} }).exitOverride();
    program.configureOutput({ writeErr: () => undefined });
    await expect(program.parseAsync([...(first ?? []), ...(second ?? [])], { from: 'user' })).rejects.toMatchObject({
      code: 'commander.conflictingOption',
      exitCode: 1,
      message: expect.stringContaining('cannot be used with option'),
    });
  });
});
