import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { keepCreating } from '../../sandbox/testing/keep-creating.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds } from '../contract.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { getWebhooks } from '../kubernetes/resources/webhooks.ts';
import { issuePair } from './issue.ts';
import { certificateStore } from './store.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
    audit: true,
    config: { certificatesDirectory: '' },
  });
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const DAY = 24 * 3_600_000;

const store = () => {
  const { name, namespace } = operator.installation.settings;
  return certificateStore(operator.cluster.client, { operatorName: name, operatorNamespace: namespace });
};

/** Another issuer writes the pair and does not inform the API server. */
async function replacePair(days: number, issuedAt: number): Promise<void> {
  await store().writePair(await issuePair('127.0.0.1', days, issuedAt), await store().readPair());
}

/** Every replica serves a new pair once the API server has trusted its authority for 15 s. */
const waitForServedUntil = (atLeast: number): Promise<void> =>
  eventually(
    async () => {
      const until = await operator.metric('lumigo_operator_webhook_certificate_expiry_timestamp_seconds');
      expect(until * 1_000).toBeGreaterThan(atLeast);
    },
    { timeoutMs: 60_000 },
  );

const requests = (): number =>
  operatorRequests(operator.cluster, operator.installation).filter(({ objectRef }) =>
    ['secrets', 'mutatingwebhookconfigurations'].includes(objectRef?.resource ?? ''),
  ).length;

async function replaceWebhookConfiguration(): Promise<void> {
  const { client } = operator.cluster;
  const { metadata, ...found } = await client.get(store().trustRef);
  const withoutBundle = getWebhooks({ metadata, ...found }).map(({ clientConfig: { url }, ...hook }) => ({
    ...hook,
    clientConfig: { url },
  }));
  await client.delete(store().trustRef);
  const manifest = { ...found, metadata: { name: metadata.name }, webhooks: withoutBundle };
  await client.create(kinds.webhooks, manifest as unknown as Manifest);
}

const waitForTrust = (timeoutMs: number): Promise<void> =>
  eventually(
    async () => {
      const bundles = await store().readTrust();
      expect(bundles).toHaveLength(2);
      expect(bundles).not.toContain('');
    },
    { timeoutMs },
  );

async function missedDuring(name: string, change: () => Promise<void>): Promise<readonly string[]> {
  const { testCluster } = operator;
  const namespace = await testCluster.instrumented(name);
  // The webhook waits while a first CronJob is judged. Once this Deployment is listed, none is the first.
  await eventually(async () =>
    expect((await testCluster.readLumigo(namespace)).status?.instrumentedResources).toHaveLength(1),
  );
  await testCluster.waitForWebhook(namespace);
  const creating = keepCreating(testCluster.client, namespace);
  await creating.more(10);
  await change();
  await creating.more(30);
  const { created, missed } = await creating.end();
  expect(created).toBeGreaterThan(40);
  return missed;
}

describe("the operator's own certificate", () => {
  it('costs no request while nothing happens [F29]', async () => {
    await waitForTrust(20_000);
    // The watches report the operator's own changes.
    await sleep(2_000);
    const before = requests();
    await sleep(12_000);
    expect(requests()).toBe(before);
  });

  it('is trusted again within seconds after the webhook configuration was replaced [F29]', async () => {
    await replaceWebhookConfiguration();
    await waitForTrust(10_000);
  });

  it('is issued by the operator, and no manifest has a private key [D40]', async () => {
    const { testCluster, installation } = operator;
    expect(JSON.stringify(installation.manifests)).not.toContain('PRIVATE KEY');
    const namespace = await testCluster.namespace('own');
    await testCluster.activate(namespace);
    await testCluster.waitForWebhook(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  it('is renewed after eleven months, and the webhook misses no workload [D41]', async () => {
    await operator.stopManager();
    await replacePair(365, Date.now() - 350 * DAY);
    await operator.startManager();
    const missed = await missedDuring('renewal', () => waitForServedUntil(Date.now() + 300 * DAY));
    expect(missed).toEqual([]);
  });

  it('can be replaced by Helm without notice to the API server, and no workload is missed [D41]', async () => {
    const missed = await missedDuring('replaced', async () => {
      await replacePair(700, Date.now());
      await waitForServedUntil(Date.now() + 600 * DAY);
    });
    expect(missed).toEqual([]);
  });
});
