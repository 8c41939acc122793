import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';
import { createLogger } from '../observability/logging.ts';
import { issuePair } from './issue.ts';
import { areTrusting, isPairDue } from './plan-certificates.ts';
import { rotateCertificates } from './rotation.ts';
import { certificateSource } from './serve-certificate.ts';
import { certificateStore, type StoredPair } from './store.ts';

const DAY = 24 * 3_600_000;
const dnsName = 'webhooks.lumigo-system.svc';
const installed = { operatorName: 'op', operatorNamespace: 'lumigo-system' };

let cluster: ControlPlane;
let store: ReturnType<typeof certificateStore>;
let stop: AbortController;
let watching: Watching;
let running: Promise<void>[];
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  store = certificateStore(cluster.client, installed);
  await apply(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: installed.operatorNamespace } });
});
afterAll(() => cluster?.stop());
beforeEach(() => {
  stop = new AbortController();
  running = [];
  watching = { transport: connectTo(cluster), logger: createLogger('error'), signal: stop.signal };
});
afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  for (const ref of [store.trustRef, store.pairRef]) await cluster.client.delete(ref).catch(undefinedIfNotFound);
});

const createWebhook = () => {
  const clientConfig = { service: { name: 'webhooks', namespace: installed.operatorNamespace } };
  const hook = { admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig };
  return cluster.client.create(kinds.webhooks, {
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
    metadata: { name: store.trustRef.name },
    webhooks: ['injector', 'lumigoes'].map((name) => ({ ...hook, name: `${name}.operator.lumigo.io` })),
  });
};

const keep = (retryMs = 50): Promise<void> => {
  const one = rotateCertificates({ ...watching, store, issuePair, dnsName, retryMs });
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
    await cluster.client.create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    void keep();
    await waitForGoodPair();
    const secret = await cluster.client.get(store.pairRef);
    await cluster.client.delete({ ...deployments, name: metadata.name });
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
    await cluster.client.delete(store.pairRef);
    await waitForGoodPair(certificate);
  });

  it('leaves a briefly missing Secret to the tool that replaces it, as Pulumi does', async () => {
    await createWebhook();
    await given();
    const { authority } = await waitForGoodPair();
    await store.announce(authority, Date.now());
    const next = await issuePair(dnsName, 365, Date.now());
    await cluster.client.delete(store.pairRef);
    const rotating = keep(2_000);
    await store.writePair(next, undefined);
    const replaced = await waitForGoodPair();
    stop.abort();
    await rotating;
    expect(await store.readPair()).toEqual(replaced);
  });
});

describe('a replica', () => {
  const source = () =>
    certificateSource({ ...installed, certificatesDirectory: '', certificatesIssuer: 'operator' }, store, watching);
  const isTrusted = async (authority: string) => areTrusting(await store.readTrust(), authority);

  it('serves a certificate once the API server trusts its authority beside the former one [D41]', async () => {
    await createWebhook();
    const { read } = source();
    const authorities: string[] = [];
    for (const round of ['first', 'next']) {
      await given();
      const { authority, certificate } = await waitForGoodPair();
      authorities.push(authority);
      expect(await isTrusted(authority)).toBe(false);
      expect((await read()).cert.toString()).toBe(certificate);
      expect(await Promise.all(authorities.map(isTrusted))).toEqual(authorities.map(() => true));
      if (round === 'first') await cluster.client.delete(store.pairRef);
    }
  });

  it('waits for the first certificate without requests', async () => {
    const { read, untilNextCheck } = source();
    await expect(read()).rejects.toThrow('does not exist yet');
    const next = untilNextCheck(false, stop.signal).then(() => 'reads again');
    expect(await Promise.race([next, sleep(5_000, 'waits')])).toBe('waits');
    await given();
    expect(await next).toBe('reads again');
    expect((await read()).cert.toString()).toContain('CERTIFICATE');
  });

  it('announces its authority when the webhook configuration is created last', async () => {
    await given();
    const { authority } = await waitForGoodPair();
    const { read, untilNextCheck } = source();
    await read();
    await createWebhook();
    await untilNextCheck(true, stop.signal);
    await eventually(async () => {
      await read();
      expect(await isTrusted(authority)).toBe(true);
    });
  });
});
