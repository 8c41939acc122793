import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import {
  misplaced,
  misplacedEverywhere,
  tracesIn,
  type Misplaced,
} from '../../sandbox/testing/arbitrary/misplaced-tokens.ts';
import { parseSettings, settingsVariable } from '../settings/settings.ts';
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

type Run = (file: string) => ReturnType<typeof run>;

function refusedBy(command: Run, cases: fc.Arbitrary<readonly Misplaced[]>, numRuns: number): number {
  const file = join(folder, 'values.yaml');
  let refused = 0;
  const judge = ({ token, settings }: Misplaced): void => {
    writeFileSync(file, stringify(settings));
    const { status, stdout, stderr } = command(file);
    if (status !== 0) refused += 1;
    const printed = status === 0 ? stderr : `${stdout}${stderr}`;
    expect([printed, tracesIn(printed, token)]).toEqual([printed, []]);
  };
  fc.assert(
    fc.property(cases, (all) => all.forEach(judge)),
    { numRuns },
  );
  return refused;
}

function isRefused({ settings }: Misplaced): boolean {
  try {
    parseSettings(settings, 'The sample');
    return false;
  } catch {
    return true;
  }
}

describe('a token that is rejected', () => {
  it('is in no output of helm [F77]', () => {
    const template: Run = (file) => run(helm, ['template', 'lumigo', join(folder, 'chart'), '--values', file]);
    expect(refusedBy(template, misplacedEverywhere, 2)).toBeGreaterThan(12);
  });

  // secrets.test.ts tries hundreds of messages. Here is the path of one through the program, which takes seconds.
  it('is in no output of cdk8s synth [F77]', () => {
    const args = ['synth', '--check-upgrade=false', '--output', join(folder, 'manifests')];
    const synth: Run = (file) => run('node_modules/.bin/cdk8s', args, { [settingsVariable]: file });
    const one = misplaced.filter(isRefused).map((each) => [each]);
    expect(refusedBy(synth, one, 1)).toBe(1);
  });
});
