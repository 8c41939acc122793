import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { answerTo, type Answer } from '../../sandbox/answer.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { writeCertificate } from '../../sandbox/manager/manager.ts';
import { tokenFor } from '../../sandbox/manager/service-account.ts';
import { paths } from '../contract.ts';
import { issueServing } from '../certificates/issue.ts';

let operator: TelemetryBench;
beforeAll(async () => {
  operator = await startTelemetry({ controllerManager: false, audit: true, settings: { metrics: { secure: true } } });
});
afterAll(() => operator?.stop());

const rbac = 'rbac.authorization.k8s.io';

interface Scrape {
  readonly port: number;
  readonly path: string;
  readonly ca: string;
  readonly token?: string;
}

async function scrape({ port, path, ca, token }: Scrape): Promise<Answer & { certificate: string | undefined }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let certificate: string | undefined;
  const sent = request({ host: '127.0.0.1', port, path, ca, headers, agent: false }, ({ socket }) => {
    certificate = (socket as TLSSocket).getPeerX509Certificate()?.fingerprint256;
  });
  return { ...(await answerTo(sent.end())), certificate };
}

async function scraper(name: string, isAllowed: boolean): Promise<string> {
  const { testCluster, cluster } = operator;
  await testCluster.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } });
  if (isAllowed) await allow(name);
  return tokenFor(cluster.client, { namespace: 'default', name });
}

async function allow(name: string): Promise<void> {
  const { testCluster } = operator;
  const metadata = { name };
  const rules = [{ nonResourceURLs: [paths.metrics], verbs: ['get'] }];
  await testCluster.create({ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules });
  await testCluster.create({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
  });
  await waitForGrant(`system:serviceaccount:default:${name}`);
}

/** The API server's authorizer reads a new binding by a watch, and the manager remembers a refusal. */
const waitForGrant = (user: string): Promise<void> =>
  eventually(async () => {
    const kind = { group: 'authorization.k8s.io', version: 'v1', plural: 'subjectaccessreviews' };
    const spec = { user, nonResourceAttributes: { path: paths.metrics, verb: 'get' } };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
    const { object } = await operator.cluster.client.create(kind, review as never);
    expect(object['status']).toMatchObject({ allowed: true });
  });

function endingAt(token: string, seconds: number): string {
  const [head = '', body = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
  const text = `${head}.${Buffer.from(JSON.stringify({ ...claims, exp: seconds })).toString('base64url')}`;
  const key = readFileSync(join(operator.cluster.dir, 'service-account.key'));
  // A token has the two numbers of the signature one after the other.
  const signature = createSign('sha256').update(text).sign({ key, dsaEncoding: 'ieee-p1363' }, 'base64url');
  return `${text}.${signature}`;
}

/** All requests have the same address, from which two unknown tokens are checked per second. */
const get = (token?: string, path: string = paths.metrics, ca = operator.installation.authority.certificate) =>
  eventually(async () => {
    const given = token === undefined ? {} : { token };
    const answer = await scrape({ port: operator.manager().metricsPort, path, ca, ...given });
    expect(answer.status).not.toBe(503);
    return answer;
  });

const asked = (resource: string) =>
  operatorRequests(operator.cluster, operator.installation).filter(
    ({ objectRef, stage }) => objectRef?.resource === resource && stage === 'ResponseComplete',
  );

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

describe('metrics with `metrics.secure` [F25]', () => {
  it('are served to an account that may get /metrics, both kinds, with one token review', async () => {
    const token = await scraper('prometheus', true);
    const before = asked('tokenreviews').length;
    expect(await get(token)).toMatchObject({ status: 200, text: expect.stringContaining('lumigo_operator_leader') });
    // A collector that has just begun does not serve the metrics of its process yet.
    await eventually(async () => {
      const { status, text } = await get(token, paths.telemetryProxyMetrics);
      expect([status, text]).toEqual([200, expect.stringMatching(/^otelcol_process_uptime/m)]);
    });
    for (let scrapes = 0; scrapes < 20; scrapes += 1) await get(token);
    expect(asked('tokenreviews').length - before).toBe(1);
  });

  it('are refused to an account without the right, until it has it', async () => {
    const token = await scraper('curious', false);
    const { status, text } = await get(token);
    expect([status, text]).toEqual([
      403,
      "'system:serviceaccount:default:curious' cannot read metrics; bind it to a ClusterRole with {nonResourceURLs: [/metrics], verbs: [get]}\n",
    ]);
    await allow('curious');
    await eventually(async () => expect((await get(token)).status).toBe(200), { timeoutMs: 30_000 });
  });

  it.each([
    ['garbage', () => Promise.resolve('garbage')],
    [
      'no token of this cluster',
      () => Promise.resolve(`${Buffer.from('{"alg":"RS256"}').toString('base64url')}.e30.AA`),
    ],
    ['ended', async () => endingAt(await scraper('late', true), inSeconds(-60))],
  ])('are refused for a token that is %s', async (_case, token) => {
    expect(await get(await token())).toMatchObject({
      status: 401,
      text: expect.stringContaining('send a current one'),
    });
  });

  it('are served for a token with an extended expiry, so the expiry alone decides', async () => {
    expect((await get(endingAt(await scraper('early', true), inSeconds(600)))).status).toBe(200);
  });

  it('are served with the certificate of the webhook, and with a new one at once', async () => {
    const { certificates } = operator.manager();
    const { authority } = operator.installation;
    const before = (await get()).certificate;
    const validity = { now: new Date(), days: 10 };
    const next = await issueServing(authority, ['127.0.0.1'], validity);
    writeCertificate(certificates, next, authority.certificate);
    await eventually(async () => expect((await get()).certificate).not.toBe(before));
  });

  it('use the two rights that are granted for them, and no other', () => {
    for (const resource of ['tokenreviews', 'subjectaccessreviews']) expect(asked(resource)).not.toEqual([]);
    const all = operatorRequests(operator.cluster, operator.installation);
    expect(all.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
  });
});
