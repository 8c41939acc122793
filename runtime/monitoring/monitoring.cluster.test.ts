import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tokenOf } from '../../sandbox/testing/telemetry.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';

/** Namespaces that the settings monitor, by name and by label, and what is there already. */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    controllerManager: false,
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
afterAll(() => operator?.stop());

const token = tokenOf(0x54);

async function namespace(name: string, labels: Record<string, string> = {}): Promise<void> {
  await operator.bench.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

const secretIn = async (name: string, secret = 'lumigo-credentials'): Promise<string | undefined> => {
  const ref = { group: '', version: 'v1', plural: 'secrets', namespace: name, name: secret };
  const found = (await operator.cluster.client.find(ref)) as { data: Record<string, string> } | undefined;
  return found && Buffer.from(found.data['token'] ?? '', 'base64').toString();
};

const whenActive = (name: string) => operator.bench.whenActive(name);

describe('F54: monitored namespaces', () => {
  it('get a Lumigo with traces and logs, and the token, when they come', async () => {
    await operator.bench.secret('lumigo-system', token);
    await namespace('shop');
    await whenActive('shop');
    expect((await operator.bench.readLumigo('shop')).spec).toMatchObject({
      lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } },
      tracing: { enabled: true },
      logging: { enabled: true },
    });
    expect(await secretIn('shop')).toBe(token);
  });

  it('get one by a label that they have, or are given later', async () => {
    await namespace('labelled', { team: 'a' });
    await namespace('unlabelled');
    await whenActive('labelled');
    expect((await operator.bench.readLumigo('labelled')).spec).toMatchObject({
      lumigoToken: { secretRef: { name: 'own' } },
      tracing: { enabled: false },
    });
    expect(await secretIn('labelled', 'own')).toBe(token);
    await expect(operator.bench.readLumigo('unlabelled')).rejects.toThrow('not found');
    const ref = { group: '', version: 'v1', plural: 'namespaces', name: 'unlabelled' };
    await operator.cluster.client.patch(ref, { kind: 'merge', body: { metadata: { labels: { team: 'a' } } } });
    await whenActive('unlabelled');
  });

  it('keep the Lumigo and the Secret that are there, of which only what the settings say is changed', async () => {
    const own = tokenOf(0x55);
    await operator.stopManager();
    await namespace('bank');
    await operator.bench.secret('bank', own);
    await operator.bench.lumigo('bank', { tracing: { enabled: false }, logging: { enabled: true } });
    const { uid } = (await operator.bench.readLumigo('bank')).metadata;
    await operator.startManager();
    await whenActive('bank');
    await eventually(async () =>
      expect((await operator.bench.readLumigo('bank')).spec).toMatchObject({
        tracing: { enabled: false },
        logging: { enabled: false },
      }),
    );
    expect((await operator.bench.readLumigo('bank')).metadata.uid).toBe(uid);
    expect(await secretIn('bank')).toBe(own);
  });

  it('stay without a Lumigo where somebody deletes it, and get one again as new namespaces', async () => {
    await operator.bench.deleteLumigo('shop');
    await namespace('late');
    await whenActive('late');
    await expect(operator.bench.readLumigo('shop')).rejects.toThrow('not found');
  });
});
