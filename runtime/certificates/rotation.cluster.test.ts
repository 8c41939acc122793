import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { changesOf } from '../kubernetes/watch/watches.ts';
import { createTransport } from '../kubernetes/http/transport.ts';
import { createLogger } from '../observability/logging.ts';
import { areTrusting, inspectPair, signerOf } from './plan-certificates.ts';
import { issueAuthority, issuePair, issueServing } from './issue.ts';
import { rotateCertificates } from './rotation.ts';
import { certificateStore } from './store.ts';

/** The rotation of the webhook's certificate, with a Secret and a webhook configuration on a real API server. */
const DAY = 24 * 3_600_000;
const dnsName = 'webhooks.lumigo-system.svc';
const names = { namespace: 'lumigo-system', secret: 'op-webhook-certificates', webhook: 'op-injector-webhook' };

let cluster: ControlPlane;
let store: ReturnType<typeof certificateStore>;
let stop: AbortController;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  store = certificateStore(cluster.client, { operatorName: 'op', operatorNamespace: names.namespace });
  await apply(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: names.namespace } });
});
afterAll(() => cluster?.stop());
beforeEach(async () => {
  stop = new AbortController();
  await cluster.client.create(webhooks, webhook);
});
afterEach(async () => {
  stop.abort();
  await cluster.client.delete({ ...webhooks, name: names.webhook });
  await cluster.client.delete({ ...secret, name: names.secret }).catch(() => undefined);
});

const webhooks = { group: 'admissionregistration.k8s.io', version: 'v1', plural: 'mutatingwebhookconfigurations' };
const secret = { group: '', version: 'v1', plural: 'secrets', namespace: names.namespace };
const hook = (name: string) => ({
  name,
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { service: { name: 'webhooks', namespace: names.namespace } },
});
const webhook = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: names.webhook },
  webhooks: [hook('injector.operator.lumigo.io'), hook('lumigoes.operator.lumigo.io')],
};

const logger = createLogger('error');

const transport = () =>
  createTransport(
    {
      server: new URL(cluster.server),
      ca: cluster.ca,
      authorization: () => Promise.resolve(`Bearer ${cluster.token}`),
    },
    { userAgent: 'rotation' },
  );

const keep = (now: () => number = Date.now, retryMs = 50) =>
  rotateCertificates({
    ...{ issuePair, store },
    dnsName,
    changes: changesOf([store.pairRef, store.trustRef], { transport: transport(), logger, signal: stop.signal }),
    logger,
    signal: stop.signal,
    retryMs,
    settleMs: 500,
    now,
  });

/** Puts a certificate there that was issued some time ago, and has the API server trust it. */
async function given(validity: { now: Date; days: number }, trusted = true): Promise<string> {
  const authority = await issueAuthority('before', validity);
  const pair = await issueServing(authority, { dnsNames: [dnsName] }, validity);
  await store.writePair({ ...pair, authority: authority.certificate }, undefined);
  const trust = await store.readTrust();
  if (trusted && trust !== undefined) await store.writeTrust([authority.certificate, authority.certificate], trust);
  return authority.certificate;
}

/** Waits until what is served can be trusted, and gives it back. */
const whenGood = (differentFrom = '', now = Date.now()) =>
  eventually(async () => {
    const [pair, trust] = [await store.readPair(), await store.readTrust()];
    if (pair === undefined || trust === undefined) throw new Error('there is no certificate');
    expect(pair.certificate).not.toBe(differentFrom);
    const facts = inspectPair(pair, dnsName);
    expect(facts).toMatchObject({ fits: true });
    expect(facts?.notAfter).toBeGreaterThan(now + 300 * DAY);
    expect(areTrusting(trust.bundles, signerOf(pair) ?? '')).toBe(true);
    return { pair, trust };
  });

interface Look {
  readonly certificate: string;
  readonly trusted: boolean;
  /** The first authority of the API server's bundle. */
  readonly first: string;
}

/** Looks at the Secret and at the webhook, without a pause, until the certificate is as it should be. */
async function watchUntil(isDone: (certificate: string) => boolean): Promise<Look[]> {
  const seen: Look[] = [];
  await eventually(
    async () => {
      const [pair, trust] = [await store.readPair(), await store.readTrust()];
      if (pair === undefined || trust === undefined) throw new Error('there is no certificate');
      const signer = signerOf(pair) ?? '';
      const trusted = areTrusting(trust.bundles, signer);
      seen.push({ certificate: pair.certificate, trusted, first: trust.bundles[0] ?? '' });
      if (!isDone(pair.certificate)) throw new Error('not renewed yet');
    },
    { intervalMs: 10 },
  );
  return seen;
}

describe('the webhook is served', () => {
  it('where nobody brought a certificate: one is made, and the API server told', async () => {
    void keep();
    const { trust } = await whenGood();
    expect(trust.bundles.length).toBe(2);
  });

  it('by a Secret that Helm takes over, where the operator is of a release of its', async () => {
    const deployments = { group: 'apps', version: 'v1', plural: 'deployments', namespace: names.namespace };
    const annotations = { 'meta.helm.sh/release-name': 'op', 'meta.helm.sh/release-namespace': names.namespace };
    const metadata = { name: 'op-controller-manager', annotations: { ...annotations, more: 'of no matter' } };
    const labels = { app: 'op' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const spec = { selector: { matchLabels: labels }, template };
    await cluster.client.create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    void keep();
    await whenGood();
    const { metadata: of } = await cluster.client.get({ ...secret, name: names.secret });
    await cluster.client.delete({ ...deployments, name: metadata.name });
    expect(of).toMatchObject({ annotations, labels: { 'app.kubernetes.io/managed-by': 'Helm' } });
    expect(of.annotations).toEqual(annotations);
    expect(of.ownerReferences).toMatchObject([{ kind: 'Deployment', name: metadata.name }]);
  });

  it('with what somebody else brought, for as long as it is good', async () => {
    await given({ now: new Date(), days: 365 });
    const before = await store.readPair();
    void keep();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await store.readPair()).toEqual(before);
  });

  it('also when whoever brought it forgot to tell the API server, or told it wrong', async () => {
    await given({ now: new Date(), days: 365 }, false);
    const before = await store.readPair();
    void keep();
    await whenGood();
    expect((await store.readPair())?.certificate).toBe(before?.certificate);
  });

  it('without a moment in which the API server does not trust what is served, when it is renewed near its end', async () => {
    const old = await given({ now: new Date(Date.now() - 350 * DAY), days: 365 });
    const before = (await store.readPair())?.certificate;
    void keep();
    const seen = await watchUntil((certificate) => certificate !== before);
    // What is served is trusted at every look, and the new authority was before its certificate was served.
    expect(seen.filter(({ trusted }) => !trusted)).toEqual([]);
    expect(seen.some(({ certificate, first }) => certificate === before && first !== old)).toBe(true);
    const { pair, trust } = await whenGood(before);
    // The one before is trusted still: some replica may serve it for a moment.
    expect(areTrusting([...trust.bundles, pair.authority], old)).toBe(true);
  });

  it.each([
    ['has ended', () => given({ now: new Date(Date.now() - 400 * DAY), days: 365 })],
    ['was issued by a clock that ran a year ahead', () => given({ now: new Date(Date.now() + 365 * DAY), days: 365 })],
    [
      'lost its authority',
      async () => {
        await given({ now: new Date(), days: 365 });
        const pair = await store.readPair();
        if (pair !== undefined) await store.writePair({ ...pair, authority: '' }, pair);
      },
    ],
    [
      'has the key of another one',
      async () => {
        await given({ now: new Date(), days: 365 });
        const pair = await store.readPair();
        const other = await issueAuthority('other', { now: new Date(), days: 1 });
        if (pair !== undefined) await store.writePair({ ...pair, key: other.key }, pair);
      },
    ],
    [
      'is no certificate at all',
      async () => store.writePair({ certificate: 'x', key: 'y', authority: 'z' }, undefined),
    ],
  ])('again soon when the certificate %s', async (_case, prepare) => {
    await prepare();
    const before = await store.readPair();
    void keep();
    await whenGood(before?.certificate);
  });

  it('again soon when the Secret is deleted, or the trust in it', async () => {
    void keep();
    const { pair } = await whenGood();
    await cluster.client.delete({ ...secret, name: names.secret });
    await whenGood(pair.certificate);
    const trust = await store.readTrust();
    if (trust !== undefined) await store.writeTrust(['', ''], trust);
    await whenGood();
  });

  it('with what somebody replaces it by, also when that takes a moment', async () => {
    await given({ now: new Date(), days: 365 });
    void keep(Date.now, 5_000);
    const aFewLooks = () => new Promise((resolve) => setTimeout(resolve, 500));
    await aFewLooks();
    await cluster.client.delete({ ...secret, name: names.secret });
    await aFewLooks();
    expect(await store.readPair()).toBeUndefined();
    const authority = await given({ now: new Date(), days: 365 }, false);
    const { pair } = await whenGood();
    expect(pair.authority).toBe(authority);
  });

  it('once the webhook is there, when that comes last', async () => {
    await cluster.client.delete({ ...webhooks, name: names.webhook });
    void keep();
    await eventually(async () => expect(await store.readPair()).toBeDefined());
    await cluster.client.create(webhooks, webhook);
    await whenGood();
  });

  it('whatever two replicas do at once', async () => {
    void keep();
    void keep();
    await whenGood();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await whenGood();
  });
});
