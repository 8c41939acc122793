import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleReview } from '../../bench/review.ts';
import { clientAuthority, clientCertificate, post } from '../../sandbox/testing/client-certificates.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';
import { paths, suffixes, workloads } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { KeyPair } from '../certificates/issue.ts';

/** F21: an API server that shows its certificate to the webhook, and a webhook that answers nobody else. */
const configMap = 'api-server-client-ca';
const user = 'kube-apiserver-webhooks';
/** Whether the manager has been told of the authority, which is after it has asked for it. */
let isTold = false;
let operator: OperatorBench;
let authority: KeyPair;
let shop: string;
beforeAll(async () => {
  authority = await clientAuthority('webhook clients');
  operator = await startOperator({
    controllerManager: false,
    audit: true,
    webhookClient: await clientCertificate(authority, user),
    settings: { webhook: { clientCa: { configMap, names: [user] } } },
    environment: { LUMIGO_CERTIFICATES_DIR: '' },
    // After the installation, and before the manager.
    through: ({ client, server, dir }) => {
      const asked = () =>
        expect(readFileSync(join(dir, 'manager-0.log'), 'utf8')).toContain('cannot use the webhook certificate');
      void eventually(asked, { timeoutMs: 60_000 }).then(() => {
        isTold = true;
        return trust(client, authority);
      });
      return Promise.resolve(server);
    },
  });
  shop = await operator.bench.namespace('shop');
  await operator.bench.activate(shop);
});
afterAll(() => operator?.stop());

const [deployment] = workloads;

async function trust(client: Client, ...authorities: readonly KeyPair[]): Promise<void> {
  const ref = { group: '', version: 'v1', plural: 'configmaps', namespace: 'lumigo-system', name: configMap };
  const data = { 'ca.crt': authorities.map(({ certificate }) => certificate).join('') };
  const metadata = { name: configMap, namespace: ref.namespace };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  await client.patch(ref, { kind: 'apply', body, force: true }, { fieldManager: 'test' });
}

/** A review that a pod sends, with the certificate that it has. */
async function byStranger(client?: KeyPair) {
  const { webhookPort } = operator.manager();
  const ca = await servingAuthority();
  return post({ port: webhookPort, path: paths.inject, ca, client, body: sampleReview(shop) });
}

async function servingAuthority(): Promise<string> {
  const { name, namespace } = operator.installation.settings;
  const ref = { group: '', version: 'v1', plural: 'secrets', namespace, name: `${name}-webhook-certificates` };
  const { data } = (await operator.cluster.client.get(ref)) as { readonly data?: Readonly<Record<string, string>> };
  return Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString();
}

/** Whether the API server's call, and not the reconciler later, instruments what is created. */
async function isAnswered(name: string): Promise<boolean> {
  const created = await operator.bench.create(workloadOf(deployment, shop, name));
  return JSON.stringify(created).includes('lumigo-injector');
}

describe('F21: the webhook with `webhook.clientCa`', () => {
  it('is not ready before it knows whom to answer', () => {
    expect(isTold).toBe(true);
  });

  it('answers the API server that shows its certificate, and the probe sees it', async () => {
    expect(await isAnswered('app')).toBe(true);
    await eventually(
      async () => {
        const { status } = await operator.bench.readLumigo(shop);
        const said = status?.conditions?.find(({ type }) => type === 'WebhookReachable');
        expect(said).toMatchObject({ status: 'True' });
      },
      { timeoutMs: 30_000 },
    );
  });

  it('answers no stranger: without a certificate, with one of another authority, or with one for somebody else', async () => {
    const reviewed = () => operator.metric('lumigo_operator_admission_reviews_total');
    const before = await reviewed();
    const strange = await clientCertificate(await clientAuthority('webhook clients'), user);
    expect(await byStranger()).toMatchObject({ status: 401, text: expect.stringContaining('AdmissionConfiguration') });
    expect(await byStranger(strange)).toMatchObject({ status: 401 });
    expect(await byStranger(await clientCertificate(authority, 'system:node:worker'))).toMatchObject({ status: 403 });
    expect(await reviewed()).toBe(before);
    expect(await byStranger(await clientCertificate(authority, user))).toMatchObject({ status: 200 });
    expect(await reviewed()).toBe(before + 1);
  });

  it('follows another authority without a restart; until the API server has a certificate of it, its log says why', async () => {
    const { client, dir } = operator.cluster;
    const { pid } = operator.manager();
    const next = await clientAuthority('the next');
    await trust(client, next);
    let number = 0;
    await eventually(async () => expect(await isAnswered(`refused-${(number += 1)}`)).toBe(false));
    expect(await byStranger(await clientCertificate(next, user))).toMatchObject({ status: 200 });
    const log = readFileSync(join(dir, 'apiserver.log'), 'utf8');
    expect(log).toContain('the webhook asks for a client certificate');
    await trust(client, authority, next);
    await eventually(async () => expect(await isAnswered(`answered-${(number += 1)}`)).toBe(true));
    expect(operator.manager().pid).toBe(pid);
  });

  it('says at the Lumigo that the API server has no such certificate, as soon as it probes', async () => {
    const reachable = async () => {
      const { status } = await operator.bench.readLumigo(shop);
      return status?.conditions?.find(({ type }) => type === 'WebhookReachable');
    };
    await trust(operator.cluster.client, await clientAuthority('nobody has one of it'));
    await operator.stopManager();
    await operator.startManager();
    await eventually(async () => expect(await reachable()).toMatchObject({ status: 'False' }), { timeoutMs: 30_000 });
    expect((await reachable())?.message).toMatch(/webhook/);
    await trust(operator.cluster.client, authority);
    await operator.stopManager();
    await operator.startManager();
    await eventually(async () => expect(await reachable()).toMatchObject({ status: 'True' }), { timeoutMs: 30_000 });
  });

  it('keeps to the last authority where there is none any more, and answers nobody because of it', async () => {
    await trust(operator.cluster.client);
    await eventually(() =>
      expect(readFileSync(operator.manager().logFile, 'utf8')).toContain("has no certificate in 'ca.crt'"),
    );
    expect(await isAnswered('still')).toBe(true);
    expect(await byStranger()).toMatchObject({ status: 401 });
  });

  it('took the right that is granted for it, and no other', () => {
    const all = operatorRequests(operator.cluster, operator.installation);
    const asked = all.filter(({ objectRef }) => objectRef?.resource === 'configmaps');
    const ofTheAuthority = asked.filter(({ objectRef }) => objectRef?.name === configMap);
    expect(ofTheAuthority.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['get', 'watch']));
    // The other one says what the updater has found.
    const others = asked.filter((each) => !ofTheAuthority.includes(each)).map(({ objectRef }) => objectRef?.name);
    expect(others.filter((name) => name?.endsWith(suffixes.updater) !== true)).toEqual([]);
    expect(all.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
  });
});
