import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { keepCreating } from '../../sandbox/testing/keep-creating.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';
import { workloads } from '../contract.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';
import { certificateStore } from './store.ts';
import { issueAuthority, issueServing } from './issue.ts';

/** A manager that looks after its own certificate, as in a pod, and the API server that calls it. */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
    audit: true,
    config: { certificatesDirectory: '' },
  });
});
afterAll(() => operator?.stop());

const [deployment] = workloads;
const DAY = 24 * 3_600_000;

const store = () => {
  const { name, namespace } = operator.installation.settings;
  return certificateStore(operator.cluster.client, { operatorName: name, operatorNamespace: namespace });
};

/** Every replica serves a new one as soon as it may: two seconds after the API server was told of its authority. */
const whenServedUntil = (atLeast: number): Promise<void> =>
  eventually(
    async () => {
      const until = await operator.metric('lumigo_operator_webhook_certificate_expiry_timestamp_seconds');
      expect(until * 1_000).toBeGreaterThan(atLeast);
    },
    { timeoutMs: 5_000 },
  );

/** What was asked of the Secret and of the webhook configuration so far. */
const asked = (): number =>
  operatorRequests(operator.cluster, operator.installation).filter(({ objectRef }) =>
    ['secrets', 'mutatingwebhookconfigurations'].includes(objectRef?.resource ?? ''),
  ).length;

const webhooks = { group: 'admissionregistration.k8s.io', version: 'v1', plural: 'mutatingwebhookconfigurations' };

interface Webhook {
  readonly clientConfig: { readonly caBundle?: string };
}

/** Puts another one in its place, as whoever applies the manifests anew does, which know of no authority. */
async function replaceWebhookConfiguration(): Promise<void> {
  const { client } = operator.cluster;
  const ref = { ...webhooks, name: `${operator.installation.settings.name}-injector-webhook` };
  const { metadata, webhooks: each, ...found } = (await client.get(ref)) as KubernetesObject & { webhooks: Webhook[] };
  const untold = each.map(({ clientConfig: { caBundle: _told, ...clientConfig }, ...hook }) => ({
    ...hook,
    clientConfig,
  }));
  await client.delete(ref);
  await client.create(webhooks, { ...found, metadata: { name: metadata.name }, webhooks: untold } as never);
}

const whenTold = (withinMs: number): Promise<void> =>
  eventually(async () => expect((await store().readTrust())?.bundles).not.toContain(''), { timeoutMs: withinMs });

describe("the operator's own certificate", () => {
  it('F29: costs no request while nothing happens', async () => {
    await whenTold(20_000);
    // What the operator did itself comes back over its watches.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const before = asked();
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect(asked()).toBe(before);
  });

  it('F29: is trusted again within seconds after somebody replaced the webhook configuration', async () => {
    await replaceWebhookConfiguration();
    await whenTold(3_000);
  });

  it('D40: is there without anybody bringing one, and no private key stands in any manifest', async () => {
    const { bench, installation } = operator;
    expect(JSON.stringify(installation.manifests)).not.toContain('PRIVATE KEY');
    const namespace = await bench.namespace('own');
    await bench.activate(namespace);
    // Whoever created it is answered by the webhook itself.
    await bench.create(workloadOf(deployment, namespace, 'app'));
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });

  it('D41: is renewed while workloads are created, and the webhook misses none', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('renewal');
    await bench.activate(namespace);
    await operator.stopManager();
    // As it will be in some eleven months.
    const validity = { now: new Date(Date.now() - 350 * DAY), days: 365 };
    const authority = await issueAuthority('old', validity);
    const pair = await issueServing(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }, validity);
    const before = await store().readPair();
    await store().writePair({ ...pair, authority: authority.certificate }, before);
    const trust = await store().readTrust();
    if (trust !== undefined) await store().writeTrust([authority.certificate, authority.certificate], trust);
    await operator.startManager();
    const creating = keepCreating(bench.client, namespace);
    await creating.more(10);
    await eventually(async () => expect((await store().readPair())?.certificate).not.toBe(pair.certificate), {
      timeoutMs: 60_000,
    });
    await whenServedUntil(Date.now() + 300 * DAY);
    await creating.more(91);
    const { created, missed } = await creating.end();
    expect(created).toBeGreaterThan(100);
    expect(missed).toEqual([]);
  });

  it('D41: is replaced by somebody else who tells nobody, as Helm does, and the webhook misses none', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('replaced');
    await bench.activate(namespace);
    const creating = keepCreating(bench.client, namespace);
    await creating.more(10);
    const validity = { now: new Date(), days: 700 };
    const authority = await issueAuthority('another', validity);
    const pair = await issueServing(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }, validity);
    await store().writePair({ ...pair, authority: authority.certificate }, await store().readPair());
    await whenServedUntil(Date.now() + 600 * DAY);
    await creating.more(11);
    const { created, missed } = await creating.end();
    expect(created).toBeGreaterThan(20);
    expect(missed).toEqual([]);
  });
});
