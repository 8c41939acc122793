import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData, type ChangedObject, type Manifest } from '../kubernetes/resources/objects.ts';
import { apply, applyDefinition, toRef } from '../../sandbox/manager/apply.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
    through: async (cluster) => (proxy = await startApiProxy(cluster)),
    settings: {
      monitoredNamespaces: [
        { namespace: 'shop' },
        { namespace: 'late', tracingEnabled: false },
        { selector: { matchLabels: { team: 'a' } }, secretName: 'own', tracingEnabled: false },
      ],
    },
  });
});
afterEach(() => {
  proxy.interfere = undefined;
});
afterAll(async () => {
  await operator?.stop();
});

const token = getToken(0x54);
const ownToken = getToken(0x55);

async function namespace(name: string, labels: Record<string, string> = {}): Promise<void> {
  await operator.testCluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

const secretIn = async (name: string, secret = 'lumigo-credentials'): Promise<string | undefined> => {
  const ref = { ...kinds.secrets, namespace: name, name: secret };
  const found = (await operator.cluster.client.find(ref)) as { data: Record<string, string> } | undefined;
  return found && Buffer.from(found.data['token'] ?? '', 'base64').toString();
};

const label = (name: string) =>
  operator.cluster.client.patch(
    { ...kinds.namespaces, name },
    { kind: 'merge', body: { metadata: { labels: { team: 'a' } } } },
  );

const getUid = async (name: string): Promise<string> =>
  (await operator.cluster.client.get({ ...kinds.namespaces, name })).metadata.uid;

const record = {
  ...kinds.configMaps,
  namespace: 'lumigo-system',
  name: 'lumigo-lumigo-operator-monitored-namespaces',
};
const findRecord = () => operator.cluster.client.find(record);
const owners = async () => (await findRecord())?.metadata.ownerReferences;

const isManager = ({ kind, metadata }: Manifest): boolean =>
  kind === 'Deployment' && metadata.name === 'lumigo-lumigo-operator-controller-manager';

async function marks(): Promise<Readonly<Record<string, string>>> {
  const found = await findRecord();
  return found === undefined ? {} : toData(found);
}

/** No Kubernetes controller runs here that would finish the deletion. */
async function removeNamespace(name: string): Promise<void> {
  const { client } = operator.cluster;
  const ref = { ...kinds.namespaces, name };
  await client.delete(ref);
  const found = await client.get(ref);
  const emptied = { ...found, spec: { finalizers: [] } } as ChangedObject;
  await client.update({ ...ref, subresource: 'finalize' }, emptied);
}

const countWaiting = async (): Promise<number> =>
  Object.values(await marks()).filter((mark) => mark.includes('needsToken')).length;

describe('monitored namespaces without a token in the namespace of the operator', () => {
  it('wait for it also while the watch of Lumigo resources is interrupted', async () => {
    let reads = 0;
    let writes = 0;
    proxy.interfere = ({ path, isWrite }) => {
      if (isWrite && path.includes('-monitored-namespaces')) writes += 1;
      if (!isWrite && path.includes('/secrets/lumigo-credentials')) reads += 1;
      return !isWrite && path.includes('/v1alpha1/lumigoes') ? { answer: 503 } : undefined;
    };
    expect(proxy.cutWatches(() => true)).toBeGreaterThan(0);
    await namespace('early-unseen', { team: 'a' });
    await eventually(async () => expect(await countWaiting()).toBe(1));
    // Each pass of the leader reads the token.
    const before = reads;
    await eventually(() => expect(reads).toBeGreaterThan(before + 2));
    expect(await countWaiting()).toBe(1);
    // Two create the record, one has the mark that waits, and the owners are renewed once an hour.
    expect(writes).toBeLessThan(4);
    proxy.interfere = undefined;
    await operator.testCluster.waitForCondition('early-unseen', 'Error', { reason: 'SecretNotFound' });
  });

  it('are in a record whose owners are the Deployment and the role, before they are renewed', async () => {
    expect(await owners()).toMatchObject([{ kind: 'Deployment' }, { kind: 'ClusterRole' }]);
  });

  it('get the token when it is there and valid, also from the next leader', async () => {
    const { testCluster } = operator;
    for (const name of ['early', 'early-own', 'early-deleted']) await namespace(name, { team: 'a' });
    await testCluster.secret('early-own', ownToken, 'own');
    for (const name of ['early', 'early-deleted'])
      await testCluster.waitForCondition(name, 'Error', { reason: 'SecretNotFound' });
    await testCluster.waitForActive('early-own');
    await testCluster.deleteLumigo('early-deleted');
    // Only a namespace whose Lumigo lacks its token is looked at again.
    await eventually(async () => expect(await countWaiting()).toBe(2));
    await testCluster.secret('lumigo-system', `${token} `);
    await operator.stopManager();
    await operator.startManager();
    await testCluster.secret('lumigo-system', token);
    for (const name of ['early', 'early-unseen']) await testCluster.waitForActive(name);
    for (const name of ['early', 'early-unseen']) expect(await secretIn(name, 'own')).toBe(token);
    expect(await secretIn('early-own', 'own')).toBe(ownToken);
    expect(await secretIn('early-deleted', 'own')).toBeUndefined();
    await expect(testCluster.readLumigo('early-deleted')).rejects.toThrow('not found');
  });

  it('get no Secret again after a user deletes it', async () => {
    await operator.cluster.client.delete({ ...kinds.secrets, namespace: 'early', name: 'own' });
    await namespace('early-next', { team: 'a' });
    await operator.testCluster.waitForActive('early-next');
    expect(await secretIn('early', 'own')).toBeUndefined();
  });
});

describe('monitored namespaces [F54]', () => {
  it('get a Lumigo with traces and logs, and the token, when they are created', async () => {
    const { testCluster } = operator;
    await namespace('shop');
    await testCluster.waitForActive('shop');
    expect((await testCluster.readLumigo('shop')).spec).toMatchObject({
      lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } },
      tracing: { enabled: true },
      logging: { enabled: true },
    });
    expect(await secretIn('shop')).toBe(token);
  });

  it('get one by a label that they have, or get later', async () => {
    const { testCluster } = operator;
    await namespace('unlabelled');
    await namespace('labelled', { team: 'a' });
    await testCluster.waitForActive('labelled');
    expect((await testCluster.readLumigo('labelled')).spec).toMatchObject({
      lumigoToken: { secretRef: { name: 'own' } },
      tracing: { enabled: false },
    });
    expect(await secretIn('labelled', 'own')).toBe(token);
    await expect(testCluster.readLumigo('unlabelled')).rejects.toThrow('not found');
    await label('unlabelled');
    await testCluster.waitForActive('unlabelled');
  });

  it('keep their existing Lumigo, get the Secret that it lacks, and only the configured fields change', async () => {
    const { testCluster } = operator;
    const given = [
      { name: 'given', secret: 'own' },
      { name: 'given-token', secret: 'own' },
      { name: 'given-other', secret: 'other' },
    ];
    for (const { name, secret } of given) {
      await namespace(name);
      await testCluster.lumigo(name, { lumigoToken: { secretRef: { name: secret, key: 'token' } } });
    }
    await testCluster.secret('given-token', ownToken, 'own');
    const { uid } = (await testCluster.readLumigo('given')).metadata;
    for (const { name } of given) {
      await label(name);
      await eventually(async () => expect(await marks()).toHaveProperty([await getUid(name)]));
    }
    expect(await testCluster.readLumigo('given')).toMatchObject({
      metadata: { uid },
      spec: { tracing: { enabled: false }, logging: { enabled: false } },
    });
    for (const name of ['given', 'given-token']) await testCluster.waitForActive(name);
    expect(await secretIn('given', 'own')).toBe(token);
    expect(await secretIn('given-token', 'own')).toBe(ownToken);
    for (const secret of ['own', 'other']) expect(await secretIn('given-other', secret)).toBeUndefined();
  });

  it('stay without a Lumigo that a user deletes, and get one again as new namespaces [F70]', async () => {
    const { testCluster } = operator;
    await testCluster.deleteLumigo('shop');
    await namespace('late');
    await testCluster.waitForActive('late');
    await expect(testCluster.readLumigo('shop')).rejects.toThrow('not found');
    const uid = await getUid('late');
    await eventually(async () => expect(await marks()).toHaveProperty([uid]));
    await testCluster.deleteLumigo('late');
    await removeNamespace('late');
    await eventually(async () => expect(await marks()).not.toHaveProperty([uid]));
    await namespace('late');
    await testCluster.waitForActive('late');
  });
});

describe('the next leader', () => {
  const many = Array.from({ length: 50 }, (_, index) => `many-${index}`);
  const flags = { tracing: { enabled: true }, logging: { enabled: true } };
  let writes = 0;
  let managerUid = '';

  /** It works in the order of names, so it has processed all others twice when the last two have their `Lumigo`. */
  beforeAll(async () => {
    const { testCluster, cluster, installation } = operator;
    for (const name of ['late', 'labelled']) await testCluster.changeLumigo(name, { spec: flags });
    await cluster.client.delete({ ...kinds.secrets, namespace: 'shop', name: 'lumigo-credentials' });
    await operator.stopManager();
    // A repair. Kubernetes then removes the former Deployment from the owners of the record.
    const [manager] = installation.manifests.filter(isManager);
    if (manager === undefined) throw new Error('the manifests have no manager');
    await cluster.client.delete(toRef(manager));
    ({ uid: managerUid } = (await apply(cluster.client, manager)).metadata);
    for (const name of [...many, 'zz-first']) await namespace(name, { team: 'a' });
    // The first renewal of the owners fails.
    let hasRefused = false;
    proxy.interfere = ({ path, isWrite }) => {
      if (!isWrite || !path.includes('-monitored-namespaces')) return undefined;
      if (!hasRefused) {
        hasRefused = true;
        return { answer: 503 };
      }
      writes += 1;
      return undefined;
    };
    const changed = { namespace: 'late', tracingEnabled: false, loggingEnabled: false };
    const monitoredNamespaces = [changed, ...(installation.config.monitoredNamespaces ?? [])];
    await operator.startManager({ config: { monitoredNamespaces } });
    await testCluster.waitForActive('zz-first');
    await namespace('zz-next', { team: 'a' });
    await testCluster.waitForActive('zz-next');
  });

  it("keeps a team's decisions: a deleted Lumigo, a deleted Secret, and changed flags [F70]", async () => {
    await expect(operator.testCluster.readLumigo('shop')).rejects.toThrow('not found');
    expect(await secretIn('shop')).toBeUndefined();
    expect((await operator.testCluster.readLumigo('labelled')).spec).toMatchObject(flags);
  });

  it('sets a flag that the settings change, and no other [F70]', async () => {
    expect((await operator.testCluster.readLumigo('late')).spec).toMatchObject({
      tracing: { enabled: true },
      logging: { enabled: false },
    });
  });

  it('writes the record of many namespaces a few times, because each write stores all of it again', async () => {
    const uids = await Promise.all(many.map(getUid));
    expect(Object.keys(await marks())).toEqual(expect.arrayContaining(uids));
    expect(writes).toBeLessThan(5);
  });

  it('renews the owners of the record, so that it outlives the next repair, too', async () => {
    const renewed = [{ kind: 'Deployment', uid: managerUid }, { kind: 'ClusterRole' }];
    await eventually(async () => expect(await owners()).toMatchObject(renewed));
  });
});

describe('after the definition was deleted by mistake and applied again, monitored namespaces', () => {
  it('get no Lumigo until their record is deleted as docs/operate/uninstall.md says', async () => {
    const { testCluster, cluster, installation } = operator;
    const definition = installation.manifests.find(({ kind }) => kind === 'CustomResourceDefinition') as Manifest;
    await cluster.client.delete(toRef(definition));
    await eventually(async () => expect(await cluster.client.find(toRef(definition))).toBeUndefined());
    await applyDefinition(cluster.client, definition);
    await namespace('zz-served', { team: 'a' });
    await testCluster.waitForActive('zz-served');
    await expect(testCluster.readLumigo('labelled')).rejects.toThrow('not found');
    await operator.stopManager();
    await cluster.client.delete(record);
    await operator.startManager();
    await testCluster.waitForActive('labelled');
  });
});
