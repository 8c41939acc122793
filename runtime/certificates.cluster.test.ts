import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../sandbox/testing/eventually.ts';
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
    let [created, done] = [0, false];
    const missed: string[] = [];
    const creating = (async () => {
      while (!done) {
        const name = `app-${(created += 1)}`;
        await bench.create(workloadOf(deployment, namespace, name));
        if (!(await bench.isInstrumented(deployment, namespace, name))) missed.push(name);
        await sleep(50);
      }
    })();
    await eventually(async () => expect((await store().readPair())?.certificate).not.toBe(pair.certificate), {
      timeoutMs: 60_000,
    });
    // Every replica serves the new one after ten seconds at the latest.
    await sleep(12_000);
    done = true;
    await creating;
    expect(created).toBeGreaterThan(100);
    expect(missed).toEqual([]);
    expect(await operator.metric('lumigo_operator_webhook_certificate_expiry_timestamp_seconds')).toBeGreaterThan(
      (Date.now() + 300 * DAY) / 1_000,
    );
  });
});
