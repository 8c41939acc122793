import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { accountFiles, workloadKinds } from '../contract.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { createTransport } from '../kubernetes/http/transport.ts';
import { asTelemetryProxy, keepAccount, writeAccount } from './account.ts';

let telemetry: TelemetryBench;
let collector: Client;
let namespace = '';
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
  namespace = await telemetry.activate('shop', getToken(1));
  collector = clientWith(() => telemetry.collector().token());
});
afterAll(() => telemetry?.stop());

const clientWith = (token: () => string): Client => {
  const { server, ca } = telemetry.cluster;
  const authorization = () => Promise.resolve(`Bearer ${token()}`);
  return createClient(createTransport({ server: new URL(server), ca, authorization }, { userAgent: 'test' }));
};
const core = { group: '', version: 'v1' };
const forbidden = { status: 403 };
const { deployment } = workloadKinds;

const listFirst = async (client: Client, plural: string) => (await client.pages({ ...core, plural }).next()).value;

const whoIs = async (client: Client): Promise<unknown> => {
  const ref = { group: 'authentication.k8s.io', version: 'v1', plural: 'selfsubjectreviews' };
  const { object } = await client.create(ref, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: {},
  } as never);
  return (object['status'] as { userInfo: { username: string } }).userInfo.username;
};

describe("the collector's identity [F26]", () => {
  it("is its own, not the manager's", async () => {
    const { name, namespace: own } = telemetry.installation.settings;
    expect(await whoIs(collector)).toBe(`system:serviceaccount:${own}:${name}-telemetry-proxy`);
  });

  it('sees pods and events, as collection and enrichment need', async () => {
    expect((await listFirst(collector, 'pods'))?.resourceVersion).toMatch(/^\d+$/);
    expect((await listFirst(collector, 'events'))?.resourceVersion).toMatch(/^\d+$/);
    await telemetry.waitForCollecting(namespace);
  });

  it('reads no Secret, changes no workload, and requests no token for others', async () => {
    const { name, namespace: own } = telemetry.installation.settings;
    const secret = { ...core, plural: 'secrets', namespace, name: 'lumigo-credentials' };
    await expect(collector.get(secret)).rejects.toMatchObject(forbidden);
    const patch = { kind: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
    await expect(collector.patch({ ...deployment, namespace, name: 'any' }, patch)).rejects.toMatchObject(forbidden);
    const account = { ...core, plural: 'serviceaccounts', namespace: own, name: `${name}-controller-manager` };
    const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
    const request = collector.create({ ...account, subresource: 'token' }, wanted as never);
    await expect(request).rejects.toMatchObject(forbidden);
  });

  it('replaces rights of the manager that only the collector needs', async () => {
    const file = join(telemetry.manager().certificates, '..', 'service-account', accountFiles.token);
    const manager = clientWith(() => readFileSync(file, 'utf8'));
    await expect(listFirst(manager, 'events')).rejects.toMatchObject(forbidden);
  });
});

describe("the collector's token [F26]", () => {
  const optionsFor = (name: string) => {
    const { cluster, installation } = telemetry;
    const folder = join(cluster.dir, name);
    const config = { ...installation.config, podName: 'x', telemetryProxyAccountDirectory: folder };
    const file = join(folder, accountFiles.token);
    return { config, client: cluster.client, authority: cluster.ca, folder, file };
  };

  it('is written for its user alone, with the files that a program in a pod finds beside it', async () => {
    const { folder, file, ...options } = optionsFor('written');
    expect(await writeAccount(options)).toBe(600);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, accountFiles.authority), 'utf8')).toBe(telemetry.cluster.ca);
    expect(readFileSync(join(folder, accountFiles.namespace), 'utf8')).toBe(options.config.operatorNamespace);
  });

  it('is renewed before it expires, and requests with it continue', async () => {
    const { folder: _folder, file, ...options } = optionsFor('renewed');
    const stop = new AbortController();
    const keeping = keepAccount({ ...options, logger: pino({ level: 'silent' }), signal: stop.signal, renewAt: 0.002 });
    const read = () => readFileSync(file, 'utf8');
    const first = await eventually(() => Promise.resolve(read()));
    const { server, ca } = telemetry.cluster;
    const own = { server: new URL(server), ca, authorization: () => Promise.resolve(undefined) };
    const client = createClient(createTransport(asTelemetryProxy(own, options.config), { userAgent: 'test' }));
    const before = await whoIs(client);
    // Two tokens of the same second have the same text.
    await eventually(() => expect(read()).not.toBe(first));
    expect(await whoIs(client)).toBe(before);
    stop.abort();
    await keeping;
  });
});
