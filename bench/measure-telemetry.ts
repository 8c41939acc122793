import { setTimeout as sleep } from 'node:timers/promises';
import { startFlow } from '../sandbox/otlp-sink/sender.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../sandbox/testing/telemetry.ts';
import { getUsage } from './process-usage.ts';
import type { Progress } from '../sandbox/programs/progress.ts';
import { quantile } from '../sandbox/testing/quantile.ts';
import type { Figure } from './table.ts';

/** Spans a second. Sender, sink and collector share the cores, so the CPU per span says more than the reached rate. */
const RATES = [2_000, 10_000, 20_000, 40_000];
/** The batch is that of SDKs, and the attributes are those of instrumented HTTP servers. */
const shape = {
  perRequest: 500,
  ofSpan: {
    'http.request.method': 'GET',
    'url.path': '/carts/4711/items',
    'url.scheme': 'https',
    'http.route': '/carts/:cart/items',
    'http.response.status_code': '200',
    'server.address': 'cart.shop.svc.cluster.local',
    'network.peer.address': '10.244.3.17',
    'user_agent.original': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'lumigo.execution_tags': 'customer-4711',
    'http.response.body': 'x'.repeat(400),
  },
};
const DURATION_MS = 15_000;
const QUIET_PER_SECOND = 100;
const TOKENS = 16;
const ARRIVAL_MS = 2_000;

/** Measures one replica's telemetry proxy: many tenants at growing rates, one of them quiet. */
export async function measureTelemetry(say: Progress): Promise<Figure[]> {
  const telemetry = await startTelemetry({ controllerManager: false });
  try {
    telemetry.sink.mood = 'discard';
    const tokens = Array.from({ length: TOKENS }, (_, index) => getToken(0x5_0000 + index));
    for (const [index, token] of tokens.entries())
      await telemetry.activate(`tenant-${index}`, token, { infrastructure: { enabled: false } });
    await telemetry.waitForSettled();
    const figures: Figure[] = [];
    for (const rate of RATES) figures.push(...(await measureRate(telemetry, tokens, rate, say)));
    return figures;
  } finally {
    await telemetry.stop();
  }
}

async function measureRate(
  { collector }: TelemetryBench,
  [quiet = '', ...loud]: readonly string[],
  rate: number,
  say: Progress,
): Promise<Figure[]> {
  say(`telemetry: ${rate} spans a second`);
  const { url, pid, telemetryMetricsPort } = collector();
  const sentBefore = await sentBy(telemetryMetricsPort);
  const before = getUsage(pid()).cpuSeconds;
  const started = performance.now();
  const main = startFlow(url, loud, rate, shape);
  const beside = startFlow(url, [quiet], QUIET_PER_SECOND);
  await sleep(DURATION_MS);
  await Promise.all([main.stop(), beside.stop()]);
  await sleep(ARRIVAL_MS);
  const arrived = (await sentBy(telemetryMetricsPort)) - sentBefore;
  const seconds = (performance.now() - ARRIVAL_MS - started) / 1_000;
  const spans = main.sent() + beside.sent();
  const { cpuSeconds, residentBytes } = getUsage(pid());
  return [
    { name: `accepted of ${rate} spans a second`, value: spans / seconds, unit: '' },
    { name: '… not forwarded within 2 s', value: spans - arrived, unit: '', target: 0 },
    { name: '… CPU per 1,000 spans', value: ((cpuSeconds - before) / spans) * 1e6, unit: 'ms' },
    { name: '… time until acknowledged, p99', value: quantile(main.latencies, 0.99), unit: 'ms' },
    { name: '… time until acknowledged for another tenant, p99', value: quantile(beside.latencies, 0.99), unit: 'ms' },
    { name: '… repeated requests', value: main.repeated() + beside.repeated(), unit: '' },
    { name: '… resident memory of the collector', value: residentBytes / 1e6, unit: 'MB' },
  ];
}

/** Returns the collector's own count of sent spans. */
async function sentBy(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const lines = text.matchAll(/^otelcol_exporter_sent_spans\S* (\S+)$/gm);
  return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
}
