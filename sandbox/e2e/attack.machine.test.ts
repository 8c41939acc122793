import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { managerSelector, workloadKinds } from '../../runtime/contract.ts';
import { deployment, restrictedNamespace } from '../node/apps.ts';
import { isReady, getPods, type PodView } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { createWorkload } from '../testing/workloads.ts';
import { NodeTest } from './node-test.ts';

/** With LUMIGO_ATTACK_SECONDS=600 it measures what docs/contributing/reliability.md reports. */
const seconds = Number(process.env['LUMIGO_ATTACK_SECONDS'] ?? 20);
const ATTACKERS = 20;
/** Real attackers have their own machines; here they share two cores with everything that they attack. */
const EACH = { requests: { cpu: '1m', memory: '32Mi' }, limits: { cpu: '40m' } };
const operatorNamespace = 'lumigo-system';

let nodeTest: NodeTest;
beforeAll(async () => {
  nodeTest = await NodeTest.start();
});
afterAll(() => nodeTest?.stop());

async function program(): Promise<string> {
  const entry = fileURLToPath(new URL('../testing/attack.ts', import.meta.url));
  const { outputFiles } = await build({
    ...{ entryPoints: [entry], bundle: true, minify: true, write: false },
    ...{ platform: 'node', format: 'esm', target: 'node20' },
  });
  return outputFiles[0]?.text ?? '';
}

async function webhookAddress(): Promise<{ host: string; port: number }> {
  const services = { group: '', version: 'v1', plural: 'services', namespace: operatorNamespace };
  for await (const { items } of nodeTest.client.pages(services))
    for (const { spec } of items as unknown as { spec: { clusterIP: string; ports: { port: number }[] } }[]) {
      const https = spec.ports.find(({ port }) => port === 443);
      if (https !== undefined) return { host: spec.clusterIP, port: https.port };
    }
  throw new Error('the webhook has no Service');
}

async function creating(namespace: string, durationMs: number) {
  const { deployment: kind } = workloadKinds;
  const [took, missed, until] = [[] as number[], [] as string[], Date.now() + durationMs];
  const one = async (worker: number): Promise<void> => {
    for (let index = 0; Date.now() < until; index += 1) {
      const name = `dry-${worker}-${index}`;
      const started = performance.now();
      const { object } = await nodeTest.client.create({ ...kind, namespace }, createWorkload(kind, namespace, name), {
        dryRun: true,
      });
      took.push(performance.now() - started);
      if (!JSON.stringify(object).includes('"lumigo-injector"')) missed.push(name);
      await sleep(100);
    }
  };
  await Promise.all([0, 1, 2, 3].map(one));
  took.sort((a, b) => a - b);
  const at = (share: number) => Math.round(took[Math.floor((took.length - 1) * share)] ?? NaN);
  return { asked: took.length, missed: missed.length, medianMs: at(0.5), p99Ms: at(0.99), longestMs: at(1) };
}

const countRestarts = (pods: readonly PodView[]) =>
  pods.map(({ metadata, status }) => [
    metadata.name,
    ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount),
  ]);

it(
  'twenty attacking pods restart no replica and delay no deployment [F21]',
  async () => {
    const { namespace } = await nodeTest.traced('shop');
    const before = countRestarts(await getPods(nodeTest.system.node, operatorNamespace, managerSelector));
    const quiet = await creating(namespace, 10_000);
    const { host, port } = await webhookAddress();
    const env = [
      { name: 'ATTACK_HOST', value: host },
      { name: 'ATTACK_PORT', value: String(port) },
    ];
    const command = ['/nodejs/bin/node', '--input-type=module', '-e', await program()];
    await nodeTest.apply(restrictedNamespace('attackers'));
    await nodeTest.apply(
      deployment('attackers', 'attack', { replicas: ATTACKERS, env, command, resources: EACH, labels: {} }),
    );
    await eventually(
      async () => expect((await nodeTest.pods('attackers', 'attack')).filter(isReady)).toHaveLength(ATTACKERS),
      { timeoutMs: 120_000, intervalMs: 1_000 },
    );
    await sleep(5_000);
    const attacked = await creating(namespace, seconds * 1_000);
    const attackers = await nodeTest.pods('attackers', 'attack');
    process.stderr.write(`      ${ATTACKERS} pods attack for ${seconds} s: ${JSON.stringify({ quiet, attacked })}\n`);
    expect(attackers.filter(isReady)).toHaveLength(ATTACKERS);
    expect(countRestarts(await getPods(nodeTest.system.node, operatorNamespace, managerSelector))).toEqual(before);
    expect(attacked.missed).toBe(0);
    expect(attacked.asked).toBeGreaterThan(seconds * 10);
    // A busy machine is slow without an attack as well.
    expect(attacked.p99Ms).toBeLessThan(Math.max(500, 10 * quiet.p99Ms));
  },
  (seconds + 300) * 1_000,
);
