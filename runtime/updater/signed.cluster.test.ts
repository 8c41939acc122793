import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { appendFileSync, readFileSync } from 'node:fs';
import { startCharts, type Charts } from '../../sandbox/testing/charts.ts';
import type { ChartSource } from './chart-source.ts';
import { openHelm, type Helm } from './helm.ts';

/** The real Helm, a chart repository, and keys made by GnuPG: what is not signed by the right one changes nothing. */
let charts: Charts;
let helm: Helm;
let source: ChartSource;
let keyring: string;

beforeAll(async () => {
  charts = await startCharts();
  keyring = charts.makeKey('release');
  charts.makeKey('stranger');
  helm = openHelm({ namespace: 'default', flags: [], environment: { PATH: charts.bin } });
  source = helm.charts(charts.url);
});
afterAll(() => {
  helm?.close();
  charts?.remove();
});

async function fetched(version: string): Promise<string> {
  expect(await source.versions('*')).toContain(version);
  return source.fetch(version, keyring);
}

describe('F27: a chart is verified before anything of it is looked into', () => {
  it.each<[string, string, () => void]>([
    ['that nobody signed', '1.1.0', () => void charts.publish('1.1.0')],
    ['that a stranger signed', '1.2.0', () => void charts.publish('1.2.0', 'stranger')],
    ['that was changed since', '1.3.0', () => appendFileSync(charts.publish('1.3.0', 'release'), 'more')],
  ])('one %s is refused', async (_case, version, prepare) => {
    prepare();
    await expect(fetched(version)).rejects.toThrow('helm pull failed');
  });

  it('one that the right key signed is taken, as it is in the repository', async () => {
    const published = charts.publish('1.4.0', 'release');
    expect(readFileSync(await fetched('1.4.0'))).toEqual(readFileSync(published));
  });

  it('none is taken where the keyring is not there', async () => {
    charts.publish('1.5.0', 'release');
    await source.versions('*');
    await expect(source.fetch('1.5.0', '/nowhere/keyring.gpg')).rejects.toThrow(/helm pull failed: .*keyring\.gpg/);
  });
});
