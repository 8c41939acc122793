import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationFile } from '../runtime/telemetry-proxy/files.ts';
import type { CollectorConfiguration } from '../runtime/telemetry-proxy/types.ts';
import { startFlow } from '../sandbox/otlp-sink/sender.ts';
import type { Progress } from '../sandbox/programs/progress.ts';
import { eventually } from '../sandbox/testing/eventually.ts';
import { podAt } from '../sandbox/testing/pod-at.ts';
import { quantile } from '../sandbox/testing/quantile.ts';
import { getToken, startTelemetry } from '../sandbox/testing/telemetry.ts';
import { shape } from './measure-telemetry.ts';
import { getUsage } from './process-usage.ts';
import type { Figure } from './table.ts';

/** The components that a configuration lacks, for each figure. */
const variants: Readonly<Record<string, readonly string[]>> = {
  'as configured': [],
  'without the count of received workloads': ['count/received'],
  'without the search for claimed pods': ['resource/tokens', 'transform/claims', 'k8sattributes/claims'],
};
const ROUNDS = 4;
const RATE = 10_000;
const DURATION_MS = 10_000;

/** Measures the CPU of one telemetry proxy with and without some components. They take turns, because machines vary. */
export async function measureCounting(say: Progress): Promise<Figure[]> {
  const telemetry = await startTelemetry({ controllerManager: false });
  try {
    telemetry.sink.mood = 'discard';
    const spec = { infrastructure: { enabled: false } };
    const namespace = await telemetry.activate('shop', getToken(1), spec);
    await podAt(telemetry.testCluster, '127.0.0.1', { namespace, app: 'cart' });
    await telemetry.waitForSettled();
    const { pid, url } = telemetry.collector();
    const file = configurationFile(telemetry.collector());
    const whole = readFileSync(file, 'utf8');
    const measured = new Map(Object.keys(variants).map((name) => [name, [] as number[]]));
    for (let round = 1; round <= ROUNDS; round += 1)
      for (const [name, lacking] of Object.entries(variants)) {
        say(`counting: round ${round} of ${ROUNDS}, ${name}`);
        await load(pid(), file, getWithout(whole, lacking));
        measured.get(name)?.push(await measureCpu(url, pid()));
      }
    return [...measured].map(([name, each]) => ({
      name: `CPU per 1,000 spans, ${name}, median of ${ROUNDS}`,
      value: quantile(each, 0.5),
      unit: 'ms',
    }));
  } finally {
    await telemetry.stop();
  }
}

/** Returns a configuration without some components, and without the pipelines that only these fed. */
function getWithout(whole: string, lacking: readonly string[]): CollectorConfiguration {
  const rest = JSON.parse(whole, (name, value: unknown) => {
    if (lacking.includes(name)) return undefined;
    return Array.isArray(value) ? value.filter((each) => !lacking.includes(each)) : value;
  }) as CollectorConfiguration;
  const fed = Object.entries(rest.service.pipelines).filter(([, { receivers }]) => receivers.length > 0);
  return { ...rest, service: { ...rest.service, pipelines: Object.fromEntries(fed) } };
}

async function load(pid: number, file: string, configuration: CollectorConfiguration): Promise<void> {
  const { endpoint } = configuration.extensions['health_check'] as { endpoint: string };
  const readUpSince = async () => {
    const answer = await fetch(`http://${endpoint}`, { headers: { connection: 'close' } });
    return ((await answer.json()) as { upSince: string }).upSince;
  };
  const before = await readUpSince();
  writeFileSync(file, JSON.stringify(configuration));
  process.kill(pid, 'SIGHUP');
  await eventually(async () => {
    if ((await readUpSince()) === before) throw new Error('the collector has not loaded its configuration');
  });
}

/** Returns milliseconds for 1,000 spans. */
async function measureCpu(url: string, pid: number): Promise<number> {
  const before = getUsage(pid).cpuSeconds;
  const flow = startFlow(url, [getToken(1)], RATE, shape);
  await sleep(DURATION_MS);
  await flow.stop();
  await sleep(1_000);
  return ((getUsage(pid).cpuSeconds - before) / flow.sent()) * 1e6;
}
