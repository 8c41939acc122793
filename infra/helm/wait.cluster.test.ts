import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { runToEnd } from '../../sandbox/run.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

/** Helm 4 waits for custom resources by kstatus. Helm 3 does not wait for them. */
let helm: string;
let chart: string;
let telemetry: TelemetryBench;
beforeAll(async () => {
  helm = (await ensureBinaries(['helm-4']))['helm-4'] ?? '';
  chart = mkdtempSync(join(tmpdir(), 'lumigo-app-'));
  writeFileSync(join(chart, 'Chart.yaml'), stringify({ apiVersion: 'v2', name: 'app', version: '1.0.0' }));
  mkdirSync(join(chart, 'templates'));
  const { metadata, ...lumigo } = getLumigo('any');
  writeFileSync(join(chart, 'templates', 'lumigo.yaml'), stringify({ ...lumigo, metadata: { name: metadata.name } }));
  telemetry = await startTelemetry({ controllerManager: false });
});
afterAll(async () => {
  await telemetry?.stop();
  rmSync(chart, { recursive: true, force: true });
});

function install(namespace: string, timeout = '60s') {
  const flags = [
    '--namespace',
    namespace,
    '--kubeconfig',
    telemetry.cluster.kubeconfig,
    '--wait',
    '--timeout',
    timeout,
  ];
  return runToEnd(helm, ['install', 'app', chart, ...flags], { env: { ...process.env, HOME: chart } });
}

const getReady = async (namespace: string) => (await telemetry.testCluster.condition(namespace, 'Ready'))?.status;

describe('helm install --wait of a chart with a Lumigo', () => {
  it('returns when the Lumigo is ready', async () => {
    const namespace = await telemetry.testCluster.namespace('ready');
    await telemetry.testCluster.secret(namespace, getToken(1));
    expect(await install(namespace)).toMatchObject({ code: 0 });
    expect(await getReady(namespace)).toBe('True');
  });

  it('waits for a Secret that is created later', async () => {
    const namespace = await telemetry.testCluster.namespace('later');
    const installed = install(namespace);
    await eventually(async () => expect(await getReady(namespace)).toBe('False'));
    await telemetry.testCluster.secret(namespace, getToken(1));
    expect(await installed).toMatchObject({ code: 0 });
    expect(await getReady(namespace)).toBe('True');
  });

  it('fails at once if Lumigo refuses the token, and shows the message', async () => {
    const namespace = await telemetry.testCluster.namespace('refused');
    telemetry.sink.refused.add(getToken(2));
    await telemetry.testCluster.secret(namespace, getToken(2));
    const { code, stderr } = await install(namespace, '10m');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/Lumigo\/refused-.* not ready. status: Failed, message: .* refuses the token/),
    });
  });
});
