import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { writeChart } from './chart.ts';

/** The notes of a release as the real helm renders them; it prints them only to whoever installs, so an object takes them along. */
let helm = '';
let chart = '';
beforeAll(async () => {
  helm = (await ensureBinaries(['helm'], () => undefined))['helm'] ?? '';
  chart = mkdtempSync(join(tmpdir(), 'lumigo-chart-'));
  writeChart(chart);
  copyFileSync(join(chart, 'templates', 'NOTES.txt'), join(chart, 'notes.txt'));
  writeFileSync(join(chart, 'templates', 'taken.yaml'), 'notes: {{ tpl (.Files.Get "notes.txt") . | quote }}\n');
});
afterAll(() => rmSync(chart, { recursive: true, force: true }));

function notes(...values: readonly string[]): string {
  const flags = ['--show-only', 'templates/taken.yaml', ...values.flatMap((value) => ['--set', value])];
  const { status, stdout, stderr } = spawnSync(helm, ['template', 'lumigo', chart, ...flags], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return (parse(stdout) as { notes: string }).notes;
}

const image = 'controllerManager.manager.image.repository';

describe('the notes of a release', () => {
  it('F52: say of an image that is published nowhere what to do, and of any other nothing', () => {
    expect(notes(`${image}=localhost/operator`)).toMatch(/! localhost\/operator:\S+ is published nowhere: build it/);
    expect(notes(`${image}=registry.example/operator`)).not.toContain('published');
    expect(notes('imagePrefix=registry.example/mirror/')).not.toContain('published');
  });

  it('F52: say that an updater is suspended that has no chart repository', () => {
    expect(notes('updater.enabled=true', 'updater.repository=')).toContain('! The updater is suspended');
    expect(notes('updater.enabled=true', 'updater.repository=https://charts.example')).not.toContain('suspended');
    expect(notes('updater.enabled=false', 'updater.repository=')).not.toContain('suspended');
  });
});
