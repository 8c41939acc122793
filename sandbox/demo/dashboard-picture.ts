import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { panels } from '../../infra/constructs/dashboard.ts';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { managerSelector } from '../../runtime/contract.ts';
import { launch } from '../control-plane/processes.ts';
import { strictDeployment } from '../e2e/strict-app.ts';
import { apply } from '../manager/apply.ts';
import { ask } from '../node/ask.ts';
import { getAddress, getPods, startNodeWithOperator } from '../node/operator.ts';
import { ensureBinaries } from '../programs/build.ts';
import { eventually } from '../testing/eventually.ts';
import { createLumigo, deployShop } from './node-steps.ts';
import { panelsPicture, STEP_SECONDS, type Series } from './panels-picture.ts';
import { printerTo } from './printer.ts';
import { demoNamespace } from './workloads.ts';

/** `npm run picture:dashboard`: runs the operator on a real node, and draws the dashboard's panels into docs/operate/dashboard.svg. */
const RECORDED_MS = 150_000;
/** Grafana's `$__rate_interval` is four scrapes. Its variables select all. */
const variables = { $__rate_interval: `${4 * STEP_SECONDS}s`, $pod: '.*', $namespace: '.*' };
const ADDRESS = '127.0.0.1:19090';

const printer = printerTo((text) => process.stderr.write(text), false);
await ensureBundle();
const { prometheus = '' } = await ensureBinaries(['prometheus'], printer.aside);
const system = await startNodeWithOperator({ rollout: { soakSeconds: 5 } }, { onProgress: printer.aside });
const { node } = system;

/** It ends with the node, which deletes its files. */
async function startPrometheus(): Promise<void> {
  const pods = await getPods(node, 'lumigo-system', managerSelector);
  const targets = pods.map(({ metadata, status }) => ({
    targets: [8080, 8888].map((port) => `${status?.podIP}:${port}`),
    labels: { pod: metadata.name },
  }));
  const job = { job_name: 'lumigo', honor_labels: true, static_configs: targets };
  const { dir: folder, reaper } = node;
  const config = join(folder, 'prometheus.yaml');
  writeFileSync(config, stringify({ global: { scrape_interval: `${STEP_SECONDS}s` }, scrape_configs: [job] }));
  const flags = {
    'config.file': config,
    'storage.tsdb.path': join(folder, 'prometheus'),
    'web.listen-address': ADDRESS,
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  launch({ name: 'prometheus', path: prometheus, args, folder, reaper });
  await eventually(() => fetch(`http://${ADDRESS}/-/ready`));
}

type Answer = { data: { result: { metric: Record<string, string>; values: [number, string][] }[] } };

async function query(expr: string, legend: string, from: number): Promise<readonly Series[]> {
  const asked = Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(name, value), expr);
  const range = { query: asked, start: String(from), end: String(Date.now() / 1_000), step: String(STEP_SECONDS) };
  const answer = await fetch(`http://${ADDRESS}/api/v1/query_range?${new URLSearchParams(range).toString()}`);
  if (!answer.ok) throw new Error(`${asked}: ${await answer.text()}`);
  return ((await answer.json()) as Answer).data.result.map(({ metric, values }) => ({
    legend: legend.replaceAll(/{{(\w+)}}/g, (_, label: string) => metric[label] ?? ''),
    points: values.map(([time, value]) => [time, Number(value)] as const).filter(([, value]) => Number.isFinite(value)),
  }));
}

try {
  await deployShop({ system, printer });
  await apply(node.client, strictDeployment(demoNamespace, 'report', 'crash'));
  await startPrometheus();
  const from = Date.now() / 1_000;
  await createLumigo(node);
  const url = await getAddress(node.client, demoNamespace, 'front');
  for (const end = Date.now() + RECORDED_MS; Date.now() < end; await sleep(200)) await ask(url).catch(() => undefined);
  const drawn = [];
  for (const { title, unit = 'short', queries } of panels) {
    const series = await Promise.all(queries.map(([expr, legend]) => query(expr, legend, from)));
    drawn.push({ title, unit, series: series.flat().filter(({ points }) => points.length > 0) });
  }
  writeFileSync('docs/operate/dashboard.svg', panelsPicture('The dashboard during a rollout', drawn));
} finally {
  await node.stop();
}
process.exit();
