import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { misplacedEverywhere, tracesIn } from '../../sandbox/testing/arbitrary/misplaced-tokens.ts';
import { suspended } from '../settings/updater-state.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

/** Helm prints the notes only on installation, so the test renders them into an object. */
let helm = '';
const chart = createTemporaryFolder();
const written = createTemporaryFolder();
beforeAll(async () => {
  helm = (await ensureBinaries(['helm']))['helm'] ?? '';
  cpSync(join('infra', 'renderings', 'chart'), chart, { recursive: true });
  copyFileSync(join(chart, 'templates', 'NOTES.txt'), join(chart, 'notes.txt'));
  writeFileSync(join(chart, 'templates', 'taken.yaml'), 'notes: {{ tpl (.Files.Get "notes.txt") . | quote }}\n');
});

function notes(...values: readonly string[]): string {
  const flags = ['--show-only', 'templates/taken.yaml', ...values.flatMap((value) => ['--set', value])];
  const { status, stdout, stderr } = spawnSync(helm, ['template', 'lumigo', chart, ...flags], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return (parse(stdout) as { notes: string }).notes;
}

const image = 'controllerManager.manager.image.repository';

describe('the chart as a part of a parent chart', () => {
  it('is switched on and off by the usual condition', () => {
    const parent = join(written, 'parent');
    cpSync(chart, join(parent, 'charts', 'lumigo-operator'), { recursive: true });
    const dependencies = [{ name: 'lumigo-operator', version: '*', condition: 'lumigo-operator.enabled' }];
    const metadata = { apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies };
    writeFileSync(join(parent, 'Chart.yaml'), JSON.stringify(metadata));
    const render = (enabled: boolean) =>
      spawnSync(helm, ['template', 'parent', parent, '--set', `lumigo-operator.enabled=${enabled}`], {
        encoding: 'utf8',
      });
    expect(render(true)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^kind: "?Deployment/m) });
    expect(render(false)).toMatchObject({ status: 0, stdout: '\n' });
  });
});

describe('the notes of a release', () => {
  it('say what to do about an unpublished image, and nothing about any other [F52]', () => {
    expect(notes(`${image}=localhost/operator`)).toMatch(/! localhost\/operator:\S+ is not published\. Build it/);
    expect(notes(`${image}=registry.example/operator`)).not.toContain('published');
    expect(notes('imagePrefix=registry.example/mirror/')).not.toContain('published');
  });

  it('have a first command that can be copied into a shell', () => {
    const [command] = /^kubectl apply[^]*?(?=\n\n)/m.exec(notes()) ?? [];
    expect(command).toContain('kind: Lumigo');
    const { status, stderr } = spawnSync('bash', ['-n'], { input: `${command}\n`, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  const repository = 'updater.repository=https://charts.example';
  const keyring = 'updater.verify.keyringSecret=charts';

  it.each<[string, string | undefined, readonly string[]]>([
    ['F52: that has no chart repository', suspended.noRepository, [keyring, 'updater.repository=']],
    ['F52: that has none to check', suspended.noRepository, ['updater.mode=check', 'updater.repository=']],
    ['F60: that is not told whose charts to take', suspended.noKeyring, [repository]],
    ['that is', undefined, [repository, keyring]],
    ['that trusts the repository', undefined, [repository, 'updater.verify.unsigned=accept']],
    ['that only checks', undefined, [repository, 'updater.mode=check']],
    ['that is off', undefined, ['updater.mode=off', 'updater.repository=']],
  ])('say why an updater is suspended: one %s', (_case, why, values) => {
    const said = notes(...values)
      .split('\n')
      .filter((line) => line.includes('suspended'));
    expect(said).toEqual(why === undefined ? [] : [`! ${why}`]);
  });
});

describe('a token that is rejected', () => {
  it('is in no output of helm [F77]', () => {
    const file = join(written, 'values.yaml');
    let refused = 0;
    fc.assert(
      fc.property(misplacedEverywhere, (all) => {
        for (const { token, settings } of all) {
          writeFileSync(file, stringify(settings));
          const args = ['template', 'lumigo', chart, '--values', file];
          const { status, stdout, stderr } = spawnSync(helm, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
          if (status !== 0) refused += 1;
          const printed = status === 0 ? stderr : `${stdout}${stderr}`;
          expect([printed, tracesIn(printed, token)]).toEqual([printed, []]);
        }
      }),
      { numRuns: 2 },
    );
    expect(refused).toBeGreaterThan(12);
  });
});
