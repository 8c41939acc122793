import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../sandbox/control-plane/processes.ts';
import { startRegistry, type Registry } from '../../sandbox/registry/registry.ts';
import { startCharts, type Charts } from '../../sandbox/testing/charts.ts';
import type { ChartSource } from './chart-source.ts';
import { openHelm, type Helm } from './helm.ts';

/** The real Helm and a real registry: a chart repository without an index. */
let charts: Charts;
let registry: Registry;
let helm: Helm;
let source: ChartSource;
let keyring: string;

beforeAll(async () => {
  charts = await startCharts();
  registry = await startRegistry();
  keyring = charts.makeKey('release');
  helm = openHelm({ namespace: 'default', flags: [], environment: { PATH: charts.bin } });
  source = helm.charts(`oci://${registry.host}/charts`);
  for (const version of ['1.2.0', '1.3.0', '1.10.0', '2.0.0']) push(charts.publish(version, 'release'));
});
afterAll(async () => {
  helm?.close();
  await registry?.stop();
  charts?.remove();
});

/** A signature that lies beside the archive goes along. */
const push = (archive: string): void =>
  void run(join(charts.bin, 'helm'), 'push', archive, `oci://${registry.host}/charts`, '--plain-http');

describe('F60: charts in a registry', () => {
  it('tell the newest version within the range, and the newest of all', async () => {
    expect(await source.versions('>=1.0.0 <2.0.0-0')).toEqual(['1.10.0', '2.0.0']);
    expect(await source.versions('>=3.0.0')).toEqual(['2.0.0']);
    expect(source.chart).toBe(`oci://${registry.host}/charts/lumigo-operator`);
  });

  it('are verified as others are before anything of them is looked into', async () => {
    const published = join(charts.folder, 'lumigo-operator-1.10.0.tgz');
    expect(readFileSync(await source.fetch('1.10.0', keyring))).toEqual(readFileSync(published));
    push(charts.publish('1.11.0'));
    await expect(source.fetch('1.11.0', keyring)).rejects.toThrow(/helm pull failed: .*/);
  });

  it('that are not there are a failure that says so', async () => {
    await expect(helm.charts(`oci://${registry.host}/nothing`).versions('*')).rejects.toThrow(/helm show failed/);
    await registry.stop();
    await expect(source.versions('*')).rejects.toThrow(/helm show failed/);
  });
});
