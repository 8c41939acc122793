import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../sandbox/testing/eventually.ts';
import { keepCreating } from '../sandbox/testing/keep-creating.ts';
import { startOperator, type OperatorBench } from '../sandbox/testing/operator.ts';
import { workloadOf } from '../sandbox/testing/workloads.ts';
import { workloads } from './contract.ts';
import { certificateStore } from './tls/store.ts';
import { issueAuthority, issueServing } from './tls/issue.ts';

/** A manager that looks after its own certificate, as in a pod, and the API server that calls it. */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ environment: { LUMIGO_CERTIFICATES_DIR: '' } });
});
afterAll(() => operator?.stop());

const [deployment] = workloads;
const DAY = 24 * 3_600_000;

const store = () => {
  const { name, namespace } = operator.installation.settings;
  const names = {
    namespace,
    secret: `${name}-webhook-certificates`,
    webhook: `${name}-injector-webhook`,
    deployment: 'none',
  };
  return certificateStore(operator.cluster.client, names);
};

/** Every replica serves a new one after ten seconds at the latest. */
const whenServedUntil = (atLeast: number): Promise<void> =>
  eventually(
    async () => {
      const until = await operator.metric('lumigo_operator_webhook_certificate_expiry_timestamp_seconds');
      expect(until * 1_000).toBeGreaterThan(atLeast);
    },
    { timeoutMs: 20_000 },
  );

describe("the operator's own certificate", () => {
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
    await eventually(async () => expect((await store().readPair())?.certificate).not.toBe(pair.certificate), {
      timeoutMs: 60_000,
    });
    await whenServedUntil(Date.now() + 300 * DAY);
    const { created, missed } = await creating.end();
    expect(created).toBeGreaterThan(100);
    expect(missed).toEqual([]);
  });

  it('D41: is replaced by somebody else who tells nobody, as Helm does, and the webhook misses none', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('replaced');
    await bench.activate(namespace);
    const creating = keepCreating(bench.client, namespace);
    const validity = { now: new Date(), days: 700 };
    const authority = await issueAuthority('another', validity);
    const pair = await issueServing(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }, validity);
    await store().writePair({ ...pair, authority: authority.certificate }, await store().readPair());
    await whenServedUntil(Date.now() + 600 * DAY);
    const { created, missed } = await creating.end();
    expect(created).toBeGreaterThan(20);
    expect(missed).toEqual([]);
  });
});
