import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { type ControlPlane, startControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { startApiProxy } from '../../../sandbox/faults/api-proxy.ts';
import { eventDetails } from '../../../sandbox/testing/event-details.ts';
import { startTcpProxy } from '../../../sandbox/testing/tcp-proxy.ts';
import { createTemporaryFolder } from '../../../sandbox/testing/temporary-folder.ts';
import { issueAuthority } from '../../certificates/issue.ts';
import { type Client, createClient, guarded, listAll, type KubernetesObject } from './client.ts';
import { type Connection, inCluster } from './credentials.ts';
import { isConflict, isForbidden } from './errors.ts';
import { createTransport, type Transport } from './transport.ts';
import { eventObject, postEvent } from '../resources/events.ts';
import { kinds } from '../resources/kinds.ts';

let cluster: ControlPlane;
let transport: Transport;
let client: Client;
let authorization: () => Promise<string>;
const skipped: string[] = [];
const directory = createTemporaryFolder();

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  authorization = () => Promise.resolve(`Bearer ${cluster.token}`);
  transport = connectTo(cluster, { onSkipped: (resource) => skipped.push(resource) });
  client = createClient(transport);
});
afterAll(async () => {
  transport?.close();
  await cluster?.stop();
});

const configMaps = { ...kinds.configMaps, namespace: 'default' };
const configMap = (name: string, data: object = { colour: 'red' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { test: 'client' } },
  data,
});
const made = async (name: string): Promise<KubernetesObject> =>
  (await client.create(configMaps, configMap(name))).object;
const at = (name: string) => ({ ...configMaps, name });
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a guarded patch', () => {
  it('changes the object that was read, and is a conflict if that has changed', async () => {
    const { resourceVersion } = (await made('guarded')).metadata;
    const paint = (value: string) => guarded(resourceVersion, [{ op: 'replace', path: '/data/colour', value }]);
    expect((await client.patch(at('guarded'), paint('green'))).object.data).toEqual({ colour: 'green' });
    expect(isConflict(await rejection(client.patch(at('guarded'), paint('blue'))))).toBe(true);
    expect((await client.get(at('guarded'))).data).toEqual({ colour: 'green' });
  });

  it('is distinguishable from a patch that does not fit, unlike a failed `test`', async () => {
    const { resourceVersion } = (await made('tested')).metadata;
    const unfit = guarded(resourceVersion, [{ op: 'remove', path: '/data/missing' }]);
    const tested = { op: 'test', path: '/metadata/resourceVersion', value: '1' } as const;
    for (const patch of [unfit, { kind: 'json', operations: [tested] } as const])
      await expect(client.patch(at('tested'), patch)).rejects.toMatchObject({ status: 422 });
  });

  it('does not change an object of the same name that replaced it', async () => {
    const { uid, resourceVersion } = (await made('replaced')).metadata;
    const deletion = { preconditions: { uid } };
    await client.delete(at('replaced'), deletion);
    await made('replaced');
    const patch = guarded(resourceVersion, [{ op: 'remove', path: '/data' }]);
    expect(isConflict(await rejection(client.patch(at('replaced'), patch)))).toBe(true);
    expect(isConflict(await rejection(client.delete(at('replaced'), deletion)))).toBe(true);
  });
});

describe('writes', () => {
  it('are answered and not stored in a dry run', async () => {
    const dryRun = { dryRun: true };
    const { object } = await client.create(configMaps, configMap('dry'), dryRun);
    expect(object.metadata.uid).toMatch(/-/);
    expect(await client.find(at('dry'))).toBeUndefined();
    await made('dry');
    const body = { data: { colour: 'blue' } };
    expect((await client.patch(at('dry'), { kind: 'merge', body }, dryRun)).object.data).toEqual(body.data);
    expect((await client.get(at('dry'))).data).toEqual({ colour: 'red' });
  });

  it('are answered with metadata only if asked', async () => {
    const options = { metadataOnly: true };
    const created = await client.create(configMaps, configMap('bare'), options);
    const patched = await client.patch(at('bare'), { kind: 'merge', body: { data: { a: 'b' } } }, options);
    for (const answer of [created.object, patched.object, await client.get(at('bare'), options)]) {
      expect(answer.kind).toBe('PartialObjectMetadata');
      expect(Object.keys(answer).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    }
    expect((await client.get(at('bare'))).data).toMatchObject({ a: 'b' });
  });

  it("pass on the server's warnings", async () => {
    const misspelt = { ...configMap('warned'), dta: { a: 'b' } };
    const { warnings } = await client.create(configMaps, misspelt, { fieldValidation: 'Warn' });
    expect(warnings).toEqual(['unknown field "dta"']);
    const strict = client.create(configMaps, misspelt, { fieldValidation: 'Strict' });
    await expect(strict).rejects.toThrow('unknown field "dta"');
  });
});

describe('lists', () => {
  // Each `<` of an object has six characters in JSON: \u003c.
  const large = '<'.repeat(900_000);
  const owner = { apiVersion: 'v1', kind: 'Pod', uid: 'x', name: large };
  it.each([
    ['data', { ...configMap('data-b', { large }) }],
    ['metadata', { ...configMap('metadata-b'), metadata: { name: 'metadata-b', ownerReferences: [owner] } }],
  ])('pass over an object whose %s are too large to read', async (what, object) => {
    const labels = { test: what };
    const before = skipped.length;
    for (const each of [configMap(`${what}-a`), object, configMap(`${what}-c`)]) {
      const manifest = { ...each, metadata: { ...each.metadata, labels } };
      const sent = client.create(configMaps, manifest, { metadataOnly: true });
      // The answer is too large to read, too.
      await (each === object && what === 'metadata' ? sent.catch(() => undefined) : sent);
    }
    const found: string[] = [];
    const options = { labelSelector: `test=${what}`, metadataOnly: what === 'metadata' };
    for await (const { items, resourceVersion } of client.pages(configMaps, options)) {
      expect(resourceVersion).toMatch(/^\d+$/);
      found.push(...items.map(({ metadata }) => metadata.name));
    }
    expect(found).toEqual([`${what}-a`, `${what}-c`]);
    expect(skipped.slice(before)).toEqual(['configmaps']);
  });
});

const event = (...details: Parameters<typeof eventDetails>) => eventObject(eventDetails(...details));

describe('postEvent', () => {
  it('posts a change once, even if several replicas report it', async () => {
    await postEvent(client, event('default'));
    await postEvent(client, event('default', { instance: 'manager-1' }));
    await postEvent(client, event('default', { key: 'added/2' }));
    const ref = { ...kinds.events, namespace: 'default' };
    const found = await listAll(client, ref, { fieldSelector: 'involvedObject.uid=6f3c' });
    expect(found).toHaveLength(2);
    expect(found[0]).toMatchObject({
      involvedObject: { kind: 'Deployment', name: 'cart' },
      reason: 'LumigoAddedInstrumentation',
      reportingInstance: 'manager-0',
    });
  });

  it('ignores a namespace that is being deleted', async () => {
    await postEvent(client, event('nowhere'));
    await client.create(kinds.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } });
    // Without a controller manager, a deleted namespace stays in the phase Terminating.
    await client.delete({ ...kinds.namespaces, name: 'going' });
    await postEvent(client, event('going'));
    expect(await listAll(client, { ...kinds.events, namespace: 'going' })).toEqual([]);
  });

  it('reports that it has no permission', async () => {
    const stranger = connectTo(cluster, { as: 'stranger' });
    expect(isForbidden(await rejection(postEvent(createClient(stranger), event('default'))))).toBe(true);
    stranger.close();
  });
});

const toServer = (more: Partial<Connection>) =>
  createTransport({ server: new URL(cluster.server), authorization, ...more }, { userAgent: 'test' });

describe('errors', () => {
  it('lead to new credentials once if the server refuses them', async () => {
    let asked = 0;
    const expiring = () => {
      asked += 1;
      return asked > 1 ? authorization() : Promise.resolve('Bearer expired');
    };
    const renewing = toServer({ ca: () => cluster.ca, authorization: expiring });
    expect(await listAll(createClient(renewing), kinds.namespaces)).not.toEqual([]);
    expect(asked).toBe(2);
    renewing.close();
  });

  it('lead to a repetition of safe requests alone if a kept connection is closed', async () => {
    const proxy = await startTcpProxy(Number(new URL(cluster.server).port));
    const codes: number[] = [];
    const server = `https://127.0.0.1:${proxy.port}`;
    const cut = connectTo({ ...cluster, server }, { onRequest: ({ code }) => codes.push(code) });
    const { metadata } = await made('kept');
    const through = createClient(cut);
    const afterACut = async (request: () => Promise<unknown>) => {
      await through.get(at('kept'));
      proxy.cutWhenUsed();
      codes.length = 0;
      return { error: await rejection(request()), codes };
    };
    expect(await afterACut(() => through.get(at('kept')))).toEqual({ error: undefined, codes: [0, 200] });
    const paint = guarded(metadata.resourceVersion, [{ op: 'replace', path: '/data/colour', value: 'green' }]);
    expect(await afterACut(() => through.patch(at('kept'), paint))).toEqual({ error: undefined, codes: [0, 200] });
    const created = await afterACut(() => through.create(configMaps, configMap('sent-once')));
    expect(created).toMatchObject({ error: { name: 'ConnectionError' }, codes: [0] });
    cut.close();
    await proxy.close();
  });

  it('name the server that does not answer', async () => {
    const nowhere = toServer({ server: new URL('https://127.0.0.1:1') });
    await expect(createClient(nowhere).get(at('a'))).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'ECONNREFUSED',
      message: expect.stringMatching(/^The API server at 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/),
    });
    nowhere.close();
  });

  it('report another authority, which is not trusted', async () => {
    const suspicious = toServer({});
    const problem = 'its certificate is not signed by the CA of the credentials';
    await expect(createClient(suspicious).get(at('a'))).rejects.toThrow(problem);
    suspicious.close();
  });

  it('end once the file in the pod has the new authority that signed the certificate', async () => {
    const write = (name: string, text: string) => writeFile(join(directory, name), text);
    const authority = await issueAuthority('lumigo-sandbox', { now: new Date(), days: 1 });
    const proxy = await startApiProxy({ ...cluster, authority });
    await Promise.all([write('ca.crt', cluster.ca), write('token', cluster.token)]);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: new URL(proxy.server).port };
    const inPod = createTransport(await inCluster({ directory, env }), { userAgent: 'test' });
    const read = () => listAll(createClient(inPod), kinds.namespaces, { pool: 'standing' });
    expect(await rejection(read())).toMatchObject({ name: 'ConnectionError' });
    await write('ca.crt', authority.certificate);
    await rejection(read());
    expect(await read()).not.toEqual([]);
    inPod.close();
    await proxy.close();
  });

  it('report a collection if one object is needed', async () => {
    expect(await rejection(client.delete(configMaps))).toBeInstanceOf(TypeError);
    expect(await rejection(client.get(configMaps))).toBeInstanceOf(TypeError);
  });
});
