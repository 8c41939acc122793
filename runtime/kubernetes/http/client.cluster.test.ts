import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { type ControlPlane, startControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { startApiProxy } from '../../../sandbox/faults/api-proxy.ts';
import { etcdAt } from '../../../sandbox/testing/etcd.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { eventDetails } from '../../../sandbox/testing/event-details.ts';
import { startTcpProxy } from '../../../sandbox/testing/tcp-proxy.ts';
import { createTemporaryFolder } from '../../../sandbox/testing/temporary-folder.ts';
import { getPod } from '../../../sandbox/testing/workloads.ts';
import { issueAuthority } from '../../certificates/issue.ts';
import { forEachConcurrent } from '../../async/for-each-concurrent.ts';
import { type Client, createClient, guarded, type KubernetesObject } from './client.ts';
import { inCluster } from './credentials.ts';
import { ApiError, isConflict, isForbidden, isNotFound } from './errors.ts';
import { createTransport, type RequestInfo, type Transport } from './transport.ts';
import { eventObject, postEvent } from '../resources/events.ts';
import { kinds } from '../resources/kinds.ts';

let cluster: ControlPlane;
let transport: Transport;
let client: Client;
let authorization: () => Promise<string>;
const requests: RequestInfo[] = [];
const skipped: string[] = [];
const directory = createTemporaryFolder();

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  authorization = () => Promise.resolve(`Bearer ${cluster.token}`);
  const onSkipped = (resource: string) => skipped.push(resource);
  transport = connectTo(cluster, { onRequest: (info) => requests.push(info), onSkipped });
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
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('an eviction', () => {
  it('fails if two disruption budgets apply to the pod, although the status is 201', async () => {
    const own = { namespace: 'default', name: 'guarded-twice' };
    const pods = { group: '', version: 'v1', plural: 'pods', ...own };
    const labels = { app: own.name };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await client.create({ ...kinds.serviceAccounts, namespace: 'default' }, account);
    await client.create({ ...pods, name: undefined }, getPod('default', own.name, labels));
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patch({ ...pods, subresource: 'status' }, { kind: 'merge', body: { status } });
    for (const name of ['one', 'other'])
      await client.create(
        { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespace: 'default' },
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { namespace: 'default', name },
          spec: { minAvailable: 1, selector: { matchLabels: labels } },
        },
      );
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: own };
    expect(await rejection(client.create({ ...pods, subresource: 'eviction' }, eviction))).toMatchObject({
      name: 'ApiError',
      status: 500,
      message: expect.stringContaining('more than one PodDisruptionBudget'),
    });
    expect((await client.get(pods)).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('a guarded patch', () => {
  it('changes the object that was read, and is a conflict if that has changed', async () => {
    const { metadata } = await made('guarded');
    const ref = { ...configMaps, name: 'guarded' };
    const paint = (colour: string) =>
      guarded(metadata.resourceVersion, [{ op: 'replace', path: '/data/colour', value: colour }]);
    expect((await client.patch(ref, paint('green'))).object.data).toEqual({ colour: 'green' });
    expect(isConflict(await rejection(client.patch(ref, paint('blue'))))).toBe(true);
    expect((await client.get(ref)).data).toEqual({ colour: 'green' });
  });

  it('is distinguishable from a patch that does not fit, unlike a failed `test`', async () => {
    const { metadata } = await made('tested');
    const ref = { ...configMaps, name: 'tested' };
    const unfit = guarded(metadata.resourceVersion, [{ op: 'remove', path: '/data/missing' }]);
    const tested = { op: 'test', path: '/metadata/resourceVersion', value: '1' } as const;
    const answers = [unfit, { kind: 'json', operations: [tested] } as const].map((patch) =>
      rejection(client.patch(ref, patch)),
    );
    expect(await Promise.all(answers)).toMatchObject([{ status: 422 }, { status: 422 }]);
  });

  it('does not change an object of the same name that replaced it', async () => {
    const { metadata } = await made('replaced');
    const ref = { ...configMaps, name: 'replaced' };
    await client.delete(ref, { preconditions: { uid: metadata.uid } });
    await made('replaced');
    const patch = guarded(metadata.resourceVersion, [{ op: 'remove', path: '/data' }]);
    expect(isConflict(await rejection(client.patch(ref, patch)))).toBe(true);
    expect(isConflict(await rejection(client.delete(ref, { preconditions: { uid: metadata.uid } })))).toBe(true);
  });
});

describe('writes', () => {
  it('are answered and not stored in a dry run', async () => {
    const { object } = await client.create(configMaps, configMap('dry'), { dryRun: true });
    expect(object.metadata.uid).toMatch(/-/);
    expect(isNotFound(await rejection(client.get({ ...configMaps, name: 'dry' })))).toBe(true);
    await made('dry');
    const body = { data: { colour: 'blue' } };
    const patched = await client.patch({ ...configMaps, name: 'dry' }, { kind: 'merge', body }, { dryRun: true });
    expect(patched.object.data).toEqual(body.data);
    expect((await client.get({ ...configMaps, name: 'dry' })).data).toEqual({ colour: 'red' });
  });

  it('are answered with metadata only if asked', async () => {
    const options = { metadataOnly: true };
    const { object } = await client.create(configMaps, configMap('bare'), options);
    const ref = { ...configMaps, name: 'bare' };
    const patched = await client.patch(ref, { kind: 'merge', body: { data: { a: 'b' } } }, options);
    for (const answer of [object, patched.object, await client.get(ref, options)]) {
      expect(answer.kind).toBe('PartialObjectMetadata');
      expect(Object.keys(answer).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    }
    expect((await client.get(ref)).data).toMatchObject({ a: 'b' });
  });

  it('apply as one manager among others, and take over a field only by force', async () => {
    const ref = { ...configMaps, name: 'applied' };
    const body = (colour: string) => configMap('applied', { colour });
    await client.patch(ref, { kind: 'apply', body: body('red') }, { fieldManager: 'one' });
    const taken = { kind: 'apply', body: body('blue') } as const;
    expect(isConflict(await rejection(client.patch(ref, taken, { fieldManager: 'two' })))).toBe(true);
    const { object } = await client.patch(ref, { ...taken, force: true }, { fieldManager: 'two' });
    expect(object.data).toEqual({ colour: 'blue' });
  });

  it("pass on the server's warnings", async () => {
    const misspelt = { ...configMap('warned'), dta: { a: 'b' } };
    const { warnings } = await client.create(configMaps, misspelt, { fieldValidation: 'Warn' });
    expect(warnings).toEqual(['unknown field "dta"']);
    const strict = await rejection(client.create(configMaps, misspelt, { fieldValidation: 'Strict' }));
    expect((strict as Error).message).toContain('unknown field "dta"');
  });

  it('keep the fields of a whole object that this program does not know', async () => {
    await cluster.client.create(kinds.customResourceDefinitions, boxDefinition);
    const boxes = { group: 'test.example', version: 'v1', plural: 'boxes' };
    const box = { apiVersion: 'test.example/v1', kind: 'Box', metadata: { name: 'b' }, deep: { unheard: ['of', 1.5] } };
    const { object } = await eventually(() => client.create(boxes, box));
    const labels = { seen: 'yes' };
    await client.update({ ...boxes, name: 'b' }, { ...object, metadata: { ...object.metadata, labels } });
    const stored = await client.get({ ...boxes, name: 'b' });
    expect([stored.deep, stored.metadata.labels]).toEqual([box.deep, labels]);
    expect(isConflict(await rejection(client.update({ ...boxes, name: 'b' }, object)))).toBe(true);
  });
});

describe('lists', () => {
  const labelSelector = 'test=pages';
  const count = 600;
  beforeAll(async () => {
    const labels = { test: 'pages' };
    const create = (index: number) =>
      client.create(configMaps, { ...configMap(`page-${index}`), metadata: { name: `page-${index}`, labels } });
    await forEachConcurrent(8, [...Array(count).keys()], async (index) => void (await create(index)));
  });

  const names = async (limit: number, between: () => Promise<void> = () => Promise.resolve()): Promise<string[]> => {
    const found: string[] = [];
    for await (const { items } of client.pages(configMaps, { limit, labelSelector, metadataOnly: true })) {
      found.push(...items.map(({ metadata }) => metadata.name));
      await between();
    }
    return found;
  };

  it('are complete, in pages of the requested size', async () => {
    const before = requests.length;
    expect(new Set(await names(250)).size).toBe(count);
    expect(requests.slice(before).map(({ verb }) => verb)).toEqual(['list', 'list', 'list']);
  });

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

  it('continue if the server no longer has their resource version', async () => {
    let compacted = false;
    const found = await names(250, async () => {
      if (compacted) return;
      compacted = true;
      await made('newer-than-the-list');
      await etcdAt(cluster.etcd).compact();
      // The API server itself keeps versions for longer than etcd does.
      await cluster.restartApiServer();
    });
    expect(requests.filter(({ code }) => code === 410)).toHaveLength(1);
    expect(found).toHaveLength(count);
    expect(new Set(found).size).toBe(count);
  });
});

const event = (...details: Parameters<typeof eventDetails>) => eventObject(eventDetails(...details));

describe('postEvent', () => {
  it('posts a change once, even if several replicas report it', async () => {
    await postEvent(client, event('default'));
    await postEvent(client, event('default', { instance: 'manager-1' }));
    await postEvent(client, event('default', { key: 'added/2' }));
    const ref = { ...kinds.events, namespace: 'default' };
    const { value } = await client.pages(ref, { fieldSelector: 'involvedObject.uid=6f3c' }).next();
    expect(value?.items).toHaveLength(2);
    expect(value?.items[0]).toMatchObject({
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
    const ref = { ...kinds.events, namespace: 'going' };
    expect((await client.pages(ref).next()).value?.items).toEqual([]);
  });

  it('reports that it has no permission', async () => {
    const stranger = connectTo(cluster, { as: 'stranger' });
    expect(isForbidden(await rejection(postEvent(createClient(stranger), event('default'))))).toBe(true);
    stranger.close();
  });
});

describe('a server that is too busy', () => {
  it('gets the request again after its Retry-After, and none before', async () => {
    await client.create({ group: rbac, version: 'v1', plural: 'clusterrolebindings' }, binding);
    const flows = { group: flowcontrol, version: 'v1' };
    await client.create({ ...flows, plural: 'prioritylevelconfigurations' }, priorityLevel);
    await client.create({ ...flows, plural: 'flowschemas' }, flowSchema);
    const codes: number[] = [];
    const throttled = connectTo(cluster, { as: 'busy', onRequest: ({ code }) => codes.push(code) });
    const read = () => createClient(throttled).pages(kinds.namespaces).next();
    const answerAll = async (): Promise<void> => {
      const started = performance.now();
      const answers = await Promise.all(Array.from({ length: 16 }, read));
      expect(answers.every(({ value }) => value !== undefined && value.items.length > 0)).toBe(true);
      expect(codes).toContain(429);
      expect(performance.now() - started).toBeGreaterThan(1_000);
    };
    await eventually(answerAll, { timeoutMs: 60_000 });
    throttled.close();
  });
});

describe('errors', () => {
  it('have the server’s words, and no credential', async () => {
    const error = await rejection(client.get({ ...configMaps, name: 'nowhere' }));
    expect(error).toBeInstanceOf(ApiError);
    expect((error as Error).message).toBe('configmaps "nowhere" not found');
  });

  it('lead to new credentials once if the server refuses them', async () => {
    let asked = 0;
    const expiring = () => {
      asked += 1;
      return asked > 1 ? authorization() : Promise.resolve('Bearer expired');
    };
    const own = { server: new URL(cluster.server), ca: () => cluster.ca, authorization: expiring };
    const renewing = createTransport(own, { userAgent: 'test' });
    expect((await createClient(renewing).pages(kinds.namespaces).next()).value?.items).not.toEqual([]);
    expect(asked).toBe(2);
    renewing.close();
  });

  it('lead to a repetition of safe requests alone if a kept connection is closed', async () => {
    const proxy = await startTcpProxy(Number(new URL(cluster.server).port));
    const codes: number[] = [];
    const server = `https://127.0.0.1:${proxy.port}`;
    const cut = connectTo({ ...cluster, server }, { onRequest: ({ code }) => codes.push(code) });
    const { metadata } = await made('kept');
    const ref = { ...configMaps, name: 'kept' };
    const through = createClient(cut);
    const afterACut = async (request: () => Promise<unknown>): Promise<unknown> => {
      await through.get(ref);
      proxy.cutWhenUsed();
      codes.length = 0;
      return rejection(request());
    };
    expect(await afterACut(() => through.get(ref))).toBeUndefined();
    expect(codes).toEqual([0, 200]);
    const paint = guarded(metadata.resourceVersion, [{ op: 'replace', path: '/data/colour', value: 'green' }]);
    expect(await afterACut(() => through.patch(ref, paint))).toBeUndefined();
    expect(codes).toEqual([0, 200]);
    expect(await afterACut(() => through.create(configMaps, configMap('sent-once')))).toMatchObject({
      name: 'ConnectionError',
    });
    expect(codes).toEqual([0]);
    cut.close();
    await proxy.close();
  });

  it('name the server that does not answer', async () => {
    const nowhere = createTransport({ server: new URL('https://127.0.0.1:1'), authorization }, { userAgent: 'test' });
    const error = await rejection(createClient(nowhere).get({ ...configMaps, name: 'a' }));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'ECONNREFUSED' });
    expect((error as Error).message).toMatch(/^The API server at 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/);
    nowhere.close();
  });

  it('report another authority, which is not trusted', async () => {
    const suspicious = createTransport({ server: new URL(cluster.server), authorization }, { userAgent: 'test' });
    const error = await rejection(createClient(suspicious).get({ ...configMaps, name: 'a' }));
    expect((error as Error).message).toContain('its certificate is not signed by the CA of the credentials');
    suspicious.close();
  });

  it('end once the file in the pod has the new authority that signed the certificate', async () => {
    const write = (name: string, text: string) => writeFile(join(directory, name), text);
    const authority = await issueAuthority('lumigo-sandbox', { now: new Date(), days: 1 });
    const proxy = await startApiProxy({ ...cluster, authority });
    await Promise.all([write('ca.crt', cluster.ca), write('token', cluster.token)]);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: new URL(proxy.server).port };
    const inPod = createTransport(await inCluster({ directory, env }), { userAgent: 'test' });
    const read = () => createClient(inPod).pages(kinds.namespaces, { pool: 'standing' }).next();
    expect(await rejection(read())).toMatchObject({ name: 'ConnectionError' });
    await write('ca.crt', authority.certificate);
    await rejection(read());
    expect((await read()).value?.items.length).toBeGreaterThan(0);
    inPod.close();
    await proxy.close();
  });

  it('report a collection if one object is needed', async () => {
    expect(await rejection(client.delete(configMaps))).toBeInstanceOf(TypeError);
    expect(await rejection(client.get(configMaps))).toBeInstanceOf(TypeError);
  });
});

const boxDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boxes.test.example' },
  spec: {
    group: 'test.example',
    names: { kind: 'Box', plural: 'boxes', singular: 'box', listKind: 'BoxList' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const rbac = 'rbac.authorization.k8s.io';
const flowcontrol = 'flowcontrol.apiserver.k8s.io';
const metadata = { name: 'busy' };
const binding = {
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata,
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: rbac, kind: 'User', name: 'busy' }],
};
/** With one seat, none to borrow and no queue, all but one of concurrent requests get status 429. */
const limited = { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } };
const priorityLevel = {
  apiVersion: `${flowcontrol}/v1`,
  kind: 'PriorityLevelConfiguration',
  metadata,
  spec: { type: 'Limited', limited },
};
const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
const flowSchema = {
  apiVersion: `${flowcontrol}/v1`,
  kind: 'FlowSchema',
  metadata,
  spec: {
    priorityLevelConfiguration: metadata,
    matchingPrecedence: 2,
    rules: [{ subjects: [{ kind: 'User', user: metadata }], resourceRules: [everything] }],
  },
};
