import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { keepCreating } from '../../sandbox/testing/keep-creating.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { aborted } from '../async/aborted.ts';
import { workloadKinds } from '../contract.ts';
import { getLease } from '../installation/installation.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { Lease } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { getWebhooks } from '../kubernetes/resources/webhooks.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';
import { createLogger } from '../observability/logging.ts';
import { issuePair } from './issue.ts';
import { areTrusting, isPairDue } from './plan-certificates.ts';
import { rotateCertificates } from './rotation.ts';
import { certificateSource } from './serve-certificate.ts';
import { certificateStore, type StoredPair } from './store.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
    audit: true,
    config: { certificatesDirectory: '' },
    through: async (cluster) => (proxy = await startApiProxy(cluster)),
  });
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const ownStore = () => {
  const { name, namespace } = operator.installation.settings;
  return certificateStore(operator.cluster.client, { operatorName: name, operatorNamespace: namespace });
};

async function replaceWebhookConfiguration(): Promise<void> {
  const { client } = operator.cluster;
  const found = await client.get(ownStore().trustRef);
  const webhooks = getWebhooks(found).map(({ clientConfig: { url }, ...hook }) => ({ ...hook, clientConfig: { url } }));
  await client.delete(ownStore().trustRef);
  await client.create(kinds.webhooks, { ...found, metadata: { name: found.metadata.name }, webhooks } as never);
}

describe("the operator's own certificate", () => {
  it('is trusted again within seconds after the webhook configuration was replaced [F29]', async () => {
    await replaceWebhookConfiguration();
    await eventually(
      async () => {
        const bundles = await ownStore().readTrust();
        expect(bundles).toHaveLength(2);
        expect(bundles).not.toContain('');
      },
      { timeoutMs: 10_000 },
    );
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
    const { testCluster } = operator;
    const namespace = await testCluster.instrumented('renewal');
    // The webhook waits while a first CronJob is judged. Once this Deployment is listed, none is the first.
    await eventually(async () =>
      expect((await testCluster.readLumigo(namespace)).status?.instrumentedResources).toHaveLength(1),
    );
    await testCluster.waitForWebhook(namespace);
    const creating = keepCreating(testCluster.client, namespace);
    await creating.more(10);
    const getExpiry = () => operator.metric('lumigo_operator_webhook_certificate_expiry_timestamp_seconds');
    const before = await getExpiry();
    // Another issuer writes the pair and does not inform the API server.
    await ownStore().writePair(await issuePair('127.0.0.1', 365, Date.now() - 350 * DAY), await ownStore().readPair());
    // Every replica serves a new pair once the API server has trusted its authority for 15 s.
    await eventually(async () => expect(await getExpiry()).toBeGreaterThan(before), { timeoutMs: 60_000 });
    await creating.more(30);
    const { created, missed } = await creating.end();
    expect(created).toBeGreaterThan(40);
    expect(missed).toEqual([]);
  });

  it('does not keep the Lease if the leader is stopped while it reads the certificate', async () => {
    const { client } = operator.cluster;
    const { pairRef } = ownStore();
    const release = new AbortController();
    let held = 0;
    proxy.interfere = ({ path, isWatch }) => {
      if (isWatch || !path.endsWith(`/${pairRef.name}`)) return undefined;
      held += 1;
      return { holdAnswer: () => aborted(release.signal) };
    };
    await client.patch(pairRef, { kind: 'merge', body: { metadata: { annotations: { touched: 'yes' } } } });
    // One reads it to serve it, and the other to renew it.
    await eventually(() => expect(held).toBe(2));
    const stopped = operator.stopManager();
    await eventually(async () => {
      const { spec } = (await client.get(getLease(operator.installation.config))) as Lease;
      expect(spec?.holderIdentity).not.toBe(operator.manager().name);
    });
    release.abort();
    proxy.interfere = undefined;
    await stopped;
    await operator.startManager();
  });
});

/** Another installation, of which only the certificate exists. */
const installed = { operatorName: 'op', operatorNamespace: 'lumigo-system' };
const dnsName = 'webhooks.lumigo-system.svc';
let store: ReturnType<typeof certificateStore>;
let stop: AbortController;
let watching: Watching;
let running: Promise<void>[];
beforeAll(() => {
  store = certificateStore(operator.cluster.client, installed);
});
beforeEach(() => {
  stop = new AbortController();
  running = [];
  watching = { transport: connectTo(operator.cluster), logger: createLogger('error'), signal: stop.signal };
});
afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  for (const ref of [store.trustRef, store.pairRef])
    await operator.cluster.client.delete(ref).catch(undefinedIfNotFound);
});

const createWebhook = () => {
  const clientConfig = { service: { name: 'webhooks', namespace: installed.operatorNamespace } };
  const hook = { admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig };
  return operator.cluster.client.create(kinds.webhooks, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: store.trustRef.name },
    webhooks: ['injector', 'lumigoes'].map((name) => ({ ...hook, name: `${name}.operator.lumigo.io` })),
  });
};

const keep = (more: { readonly graceMs?: number } = {}, pairs = store): Promise<void> => {
  const one = rotateCertificates({ ...watching, store: pairs, issuePair, dnsName, retryMs: 50, ...more });
  running.push(one);
  return one;
};

const given = async (issuedAt = Date.now()) => store.writePair(await issuePair(dnsName, 365, issuedAt), undefined);

const waitForGoodPair = (differentFrom = ''): Promise<StoredPair> =>
  eventually(async () => {
    const pair = await store.readPair();
    if (pair === undefined || isPairDue(pair, dnsName, Date.now())) throw new Error('there is no good certificate');
    expect(pair.certificate).not.toBe(differentFrom);
    return pair;
  });

describe('the rotation', () => {
  it('issues a certificate if there is none, also if two replicas do so at once', async () => {
    const replicas = [keep(), keep()];
    await waitForGoodPair();
    stop.abort();
    await Promise.all(replicas);
    await waitForGoodPair();
  });

  it('creates a Secret that Helm adopts if the operator is from a Helm release', async () => {
    const deployments = { ...kinds.deployments, namespace: installed.operatorNamespace };
    const annotations = { 'meta.helm.sh/release-name': 'op', 'meta.helm.sh/release-namespace': 'lumigo-system' };
    const metadata = { name: 'op-controller-manager', annotations: { ...annotations, more: 'of no matter' } };
    const labels = { app: 'op' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const spec = { selector: { matchLabels: labels }, template };
    await operator.cluster.client.create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    void keep();
    await waitForGoodPair();
    const secret = await operator.cluster.client.get(store.pairRef);
    await operator.cluster.client.delete({ ...deployments, name: metadata.name });
    expect(secret.metadata).toMatchObject({ labels: { 'app.kubernetes.io/managed-by': 'Helm' } });
    expect(secret.metadata.annotations).toEqual(annotations);
    expect(secret.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: metadata.name }]);
  });

  it('replaces a certificate near its end, keeps its authority, and replaces a deleted Secret', async () => {
    await given(Date.now() - 350 * DAY);
    const before = await store.readPair();
    void keep();
    const { certificate, authority } = await waitForGoodPair(before?.certificate);
    expect(areTrusting([authority], before?.authority ?? 'none')).toBe(true);
    await operator.cluster.client.delete(store.pairRef);
    await waitForGoodPair(certificate);
  });

  const trusted = async () => {
    await createWebhook();
    await given();
    const { authority, certificate } = await waitForGoodPair();
    await store.announce(authority, Date.now());
    return certificate;
  };

  it('replaces a Secret that the API server trusted if it stays missing', async () => {
    const certificate = await trusted();
    void keep({ graceMs: 1_000 });
    await operator.cluster.client.delete(store.pairRef);
    await waitForGoodPair(certificate);
  });

  it('leaves a Secret that is missing for seconds to the tool that replaces it, as Pulumi does', async () => {
    await trusted();
    const next = await issuePair(dnsName, 365, Date.now());
    await operator.cluster.client.delete(store.pairRef);
    const rotating = keep();
    // A rotation that begins later issues at once, because no API server trusts a former certificate of it.
    const other = certificateStore(operator.cluster.client, { ...installed, operatorName: 'other' });
    void keep({}, other);
    await eventually(() => operator.cluster.client.delete(other.pairRef));
    // Pulumi saves its state to a slow backend for up to 3 s before and after the deletion.
    await sleep(6_000);
    await store.writePair(next, undefined);
    const replaced = await waitForGoodPair();
    stop.abort();
    await rotating;
    expect(await store.readPair()).toEqual(replaced);
  });
});

const ownRequests = (): number =>
  operatorRequests(operator.cluster, operator.installation).filter(({ objectRef }) =>
    [ownStore().pairRef.name, ownStore().trustRef.name].includes(objectRef?.name ?? ''),
  ).length;

describe('a replica', () => {
  const source = () =>
    certificateSource({ ...installed, certificatesDirectory: '', certificatesIssuer: 'operator' }, store, watching);
  const isTrusted = async (authority: string) => areTrusting(await store.readTrust(), authority);

  it('serves a certificate once its authority is trusted, while other operators request nothing [D41, F29]', async () => {
    await createWebhook();
    const before = ownRequests();
    const started = performance.now();
    const { read } = source();
    const authorities: string[] = [];
    for (const round of ['first', 'next']) {
      await given();
      const { authority, certificate } = await waitForGoodPair();
      authorities.push(authority);
      expect(await isTrusted(authority)).toBe(false);
      expect((await read()).cert.toString()).toBe(certificate);
      expect(await Promise.all(authorities.map(isTrusted))).toEqual(authorities.map(() => true));
      if (round === 'first') await operator.cluster.client.delete(store.pairRef);
    }
    expect(performance.now() - started).toBeGreaterThan(14_000);
    expect(ownRequests()).toBe(before);
  });

  it('waits for the trust in an older certificate, also if another replica announced its authority', async () => {
    await createWebhook();
    await given(Date.now() - 10 * DAY);
    const started = performance.now();
    const served = [source(), source()].map(({ read }) => read().then(() => performance.now() - started));
    // A timer may end a moment early.
    expect(Math.min(...(await Promise.all(served)))).toBeGreaterThan(1_990);
  });

  it('serves no certificate that has ended, which a tool may bring back', async () => {
    await createWebhook();
    const trusted = await store.readTrust();
    await given(Date.now() - 400 * DAY);
    await expect(source().read()).rejects.toThrow('has ended');
    expect(await store.readTrust()).toEqual(trusted);
  });

  it('serves no certificate that is not valid yet, which a fast clock of an installer may deliver', async () => {
    await createWebhook();
    await given(Date.now() + HOUR + 60_000);
    // The leader keeps it, because clocks differ.
    await waitForGoodPair();
    await expect(source().read()).rejects.toThrow('is not valid yet');
  });

  it('keeps its certificate while the present one begins later, by any time', async () => {
    await createWebhook();
    await given();
    const { read } = source();
    await read();
    await operator.cluster.client.delete(store.pairRef);
    await given(Date.now() + 3 * HOUR);
    await expect(read()).rejects.toThrow('is not valid yet');
  });

  it('waits for the first certificate without requests', async () => {
    const { read, untilNextCheck } = source();
    await expect(read()).rejects.toThrow('does not exist yet');
    const next = untilNextCheck(2_000, stop.signal).then(() => 'reads again');
    // A replica that has not read yet checks again after two seconds.
    const retry = source().untilNextCheck(2_000, stop.signal);
    expect(await Promise.race([next, retry.then(() => 'waits')])).toBe('waits');
    await given();
    expect(await next).toBe('reads again');
    expect((await read()).cert.toString()).toContain('CERTIFICATE');
  });
});
