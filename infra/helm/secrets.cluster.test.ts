import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { misplaced, tracesIn } from '../../sandbox/testing/arbitrary/misplaced-tokens.ts';
import { settingsVariable } from '../settings/settings.ts';
import { writeChart } from './chart.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

let helm = '';
const folder = createTemporaryFolder();
beforeAll(async () => {
  helm = (await ensureBinaries(['helm']))['helm'] ?? '';
  writeChart(join(folder, 'chart'));
});

const run = (command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...environment }, maxBuffer: 2 ** 26 });

function refusedBy(command: (file: string) => ReturnType<typeof run>, numRuns: number): number {
  const file = join(folder, 'values.yaml');
  let refused = 0;
  fc.assert(
    fc.property(misplaced, ({ token, settings }) => {
      writeFileSync(file, stringify(settings));
      const { status, stdout, stderr } = command(file);
      if (status !== 0) refused += 1;
      const printed = status === 0 ? stderr : `${stdout}${stderr}`;
      expect([printed, tracesIn(printed, token)]).toEqual([printed, []]);
    }),
    { numRuns },
  );
  return refused;
}

describe('a token that is rejected', () => {
  it('is in no output of helm [F77]', () => {
    const refused = refusedBy((file) => run(helm, ['template', 'lumigo', join(folder, 'chart'), '--values', file]), 60);
    expect(refused).toBeGreaterThan(30);
  });

  it('is in no output of cdk8s synth [F77]', () => {
    const output = join(folder, 'manifests');
    const synth = (file: string) =>
      run('npx', ['cdk8s', 'synth', '--output', output], { [settingsVariable]: file, CI: 'true' });
    expect(refusedBy(synth, 5)).toBeGreaterThan(0);
  });
});
