import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData, type ChangedObject } from '../kubernetes/resources/objects.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';

let operator: OperatorBench;
let proxy: ApiProxy;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
    through: async (cluster) => (proxy = await startApiProxy(cluster)).server,
    settings: {
      monitoredNamespaces: [
        { namespace: 'shop' },
        { namespace: 'bank', loggingEnabled: false },
        { namespace: 'late' },
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
  await proxy?.close();
});

const token = getToken(0x54);

async function namespace(name: string, labels: Record<string, string> = {}): Promise<void> {
  await operator.testCluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

const secretIn = async (name: string, secret = 'lumigo-credentials'): Promise<string | undefined> => {
  const ref = { ...kinds.secrets, namespace: name, name: secret };
  const found = (await operator.cluster.client.find(ref)) as { data: Record<string, string> } | undefined;
  return found && Buffer.from(found.data['token'] ?? '', 'base64').toString();
};

const waitForActive = (name: string) => operator.testCluster.waitForActive(name);

/** The leader works in the order of names, so it has processed every namespace when it monitors the additional one. */
async function restart(entries = operator.installation.config.monitoredNamespaces): Promise<void> {
  const name = await operator.testCluster.namespace('zz-after');
  await operator.stopManager();
  await operator.startManager({ config: { monitoredNamespaces: [...entries, { namespace: name }] } });
  await waitForActive(name);
  // A further namespace makes the leader process all of them once more.
  await namespace(`${name}-b`, { team: 'z' });
  await sleep(1_000);
}

const marks = async (): Promise<Readonly<Record<string, string>>> => {
  const name = 'lumigo-lumigo-operator-monitored-namespaces';
  const found = await operator.cluster.client.find({ ...kinds.configMaps, namespace: 'lumigo-system', name });
  return found === undefined ? {} : toData(found);
};

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
    proxy.interfere = ({ path, isWrite }) => {
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
    proxy.interfere = undefined;
    await operator.testCluster.waitForCondition('early-unseen', 'Error', { reason: 'SecretNotFound' });
  });

  it('get the token when it is there and valid, also from the next leader', async () => {
    const { testCluster } = operator;
    const own = getToken(0x56);
    for (const name of ['early', 'early-own', 'early-deleted']) await namespace(name, { team: 'a' });
    await testCluster.secret('early-own', own, 'own');
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
    expect(await secretIn('early-own', 'own')).toBe(own);
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
    await namespace('shop');
    await waitForActive('shop');
    expect((await operator.testCluster.readLumigo('shop')).spec).toMatchObject({
      lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } },
      tracing: { enabled: true },
      logging: { enabled: true },
    });
    expect(await secretIn('shop')).toBe(token);
  });

  it('get one by a label that they have, or get later', async () => {
    await namespace('labelled', { team: 'a' });
    await namespace('unlabelled');
    await waitForActive('labelled');
    expect((await operator.testCluster.readLumigo('labelled')).spec).toMatchObject({
      lumigoToken: { secretRef: { name: 'own' } },
      tracing: { enabled: false },
    });
    expect(await secretIn('labelled', 'own')).toBe(token);
    await expect(operator.testCluster.readLumigo('unlabelled')).rejects.toThrow('not found');
    const ref = { ...kinds.namespaces, name: 'unlabelled' };
    await operator.cluster.client.patch(ref, { kind: 'merge', body: { metadata: { labels: { team: 'a' } } } });
    await waitForActive('unlabelled');
  });

  it('keep their existing Lumigo and Secret, in which only the configured fields change', async () => {
    const own = getToken(0x55);
    await operator.stopManager();
    await namespace('bank');
    await operator.testCluster.secret('bank', own);
    await operator.testCluster.lumigo('bank', { tracing: { enabled: false }, logging: { enabled: true } });
    const { uid } = (await operator.testCluster.readLumigo('bank')).metadata;
    await operator.startManager();
    await waitForActive('bank');
    await eventually(async () =>
      expect((await operator.testCluster.readLumigo('bank')).spec).toMatchObject({
        tracing: { enabled: false },
        logging: { enabled: false },
      }),
    );
    expect((await operator.testCluster.readLumigo('bank')).metadata.uid).toBe(uid);
    expect(await secretIn('bank')).toBe(own);
  });

  it('get the Secret that their existing Lumigo lacks, unless it names another', async () => {
    const { testCluster, cluster } = operator;
    for (const [name, secret] of [
      ['given', 'own'],
      ['given-other', 'other'],
    ] as const) {
      await namespace(name);
      await testCluster.lumigo(name, { lumigoToken: { secretRef: { name: secret, key: 'token' } } });
      const ref = { ...kinds.namespaces, name };
      await cluster.client.patch(ref, { kind: 'merge', body: { metadata: { labels: { team: 'a' } } } });
      const { uid } = (await cluster.client.get(ref)).metadata;
      await eventually(async () => expect(await marks()).toHaveProperty([uid]));
    }
    expect(await secretIn('given', 'own')).toBe(token);
    await waitForActive('given');
    for (const secret of ['own', 'other']) expect(await secretIn('given-other', secret)).toBeUndefined();
  });

  it('stay without a Lumigo that a user deletes, and get one again as new namespaces', async () => {
    await operator.testCluster.deleteLumigo('shop');
    await namespace('late');
    await waitForActive('late');
    await expect(operator.testCluster.readLumigo('shop')).rejects.toThrow('not found');
  });

  it("keep a team's decisions when the leader changes: a deleted Lumigo and changed flags [F70]", async () => {
    const { testCluster } = operator;
    const changed = { spec: { tracing: { enabled: true }, logging: { enabled: true } } };
    for (const name of ['bank', 'labelled']) await testCluster.changeLumigo(name, changed);
    await operator.cluster.client.delete({ ...kinds.secrets, namespace: 'shop', name: 'lumigo-credentials' });
    await restart();
    await expect(testCluster.readLumigo('shop')).rejects.toThrow('not found');
    expect(await secretIn('shop')).toBeUndefined();
    for (const name of ['bank', 'labelled'])
      expect((await testCluster.readLumigo(name)).spec).toMatchObject(changed.spec);
  });

  it('get a flag that the settings change, once, and no Lumigo that was deleted [F70]', async () => {
    const { testCluster } = operator;
    const entries = [{ namespace: 'shop' }, { namespace: 'bank', loggingEnabled: false, tracingEnabled: false }];
    await restart(entries);
    expect((await testCluster.readLumigo('bank')).spec).toMatchObject({
      tracing: { enabled: false },
      logging: { enabled: true },
    });
    await expect(testCluster.readLumigo('shop')).rejects.toThrow('not found');
  });

  it('are new ones if they are deleted and created again, and get a Lumigo [F70]', async () => {
    const { testCluster, cluster } = operator;
    await restart();
    const uid = (await cluster.client.get({ ...kinds.namespaces, name: 'late' })).metadata.uid;
    expect(await marks()).toHaveProperty([uid]);
    await testCluster.deleteLumigo('late');
    await removeNamespace('late');
    await eventually(async () => expect(await marks()).not.toHaveProperty([uid]));
    await namespace('late');
    await testCluster.waitForActive('late');
  });
});

describe('many monitored namespaces', () => {
  it('share the writes of the record, because each write stores all of it again', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `many-${index}`);
    await operator.stopManager();
    for (const name of names) await namespace(name, { team: 'a' });
    let writes = 0;
    proxy.interfere = ({ path, isWrite }) => {
      if (isWrite && path.includes('-monitored-namespaces')) writes += 1;
      return undefined;
    };
    await operator.startManager();
    for (const name of names) await eventually(() => operator.testCluster.readLumigo(name));
    const found = names.map((name) => operator.cluster.client.get({ ...kinds.namespaces, name }));
    const uids = (await Promise.all(found)).map(({ metadata }) => metadata.uid);
    await eventually(async () => expect(Object.keys(await marks())).toEqual(expect.arrayContaining(uids)));
    expect(writes).toBeLessThan(5);
  });
});
