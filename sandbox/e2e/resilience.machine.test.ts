import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { managerSelector } from '../../runtime/contract.ts';
import { ask } from '../node/ask.ts';
import { getPods, waitForOperator } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { getToken } from '../testing/telemetry.ts';
import { deployment, restrictedNamespace, service } from '../node/apps.ts';
import { NodeTest } from './node-test.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

let nodeTest: NodeTest;
beforeAll(async () => {
  nodeTest = await NodeTest.start();
});
afterAll(() => nodeTest?.stop());

function askWithoutPause(url: string): { stop(): Promise<{ asked: number; failures: string[] }> } {
  const failures: string[] = [];
  let [asked, stopped] = [0, false];
  const one = async (): Promise<void> => {
    while (!stopped) {
      asked += 1;
      await ask(url, 10_000).then(
        async (answer) => {
          await answer.text();
          if (!answer.ok) failures.push(`status ${answer.status}`);
        },
        (error: unknown) => failures.push(String((error as Error).cause ?? error)),
      );
      await sleep(10);
    }
  };
  const asking = Promise.all([one(), one(), one(), one()]);
  return {
    async stop() {
      stopped = true;
      await asking;
      return { asked, failures };
    },
  };
}

describe('programs that serve', () => {
  it('fail no request while the injection and its removal replace ten replicas', async () => {
    await nodeTest.apply(restrictedNamespace('busy'));
    // A careful team lets a pod serve until every node has noticed its end.
    const env = [{ name: 'GRACE_MS', value: '3000' }];
    await nodeTest.apply(deployment('busy', 'front', { replicas: 10, env }), service('busy', 'front'));
    await nodeTest.waitForRunning('busy', 'front', { instrumented: false, replicas: 10, timeoutMs: 90_000 });
    const asking = askWithoutPause(await nodeTest.getAddress('busy', 'front'));
    await sleep(1_000);
    const started = Date.now();
    await nodeTest.activate('busy', {}, getToken(1));
    await nodeTest.waitForRunning('busy', 'front', { replicas: 10, timeoutMs: 120_000 });
    const injected = Date.now();
    const lumigo = { group: 'operator.lumigo.io', version: 'v1alpha1', plural: 'lumigoes' };
    await nodeTest.client.delete({ ...lumigo, namespace: 'busy', name: 'lumigo' });
    await nodeTest.waitForRunning('busy', 'front', { instrumented: false, replicas: 10, timeoutMs: 120_000 });
    const { asked, failures } = await asking.stop();
    process.stderr.write(
      `      ${asked} requests, ${failures.length} failed; 10 replicas instrumented in ${((injected - started) / 1_000).toFixed(1)} s, clean again after ${((Date.now() - injected) / 1_000).toFixed(1)} s\n`,
    );
    expect(asked).toBeGreaterThan(100);
    expect(failures).toEqual([]);
  });
});

describe('the operator', () => {
  it('misses no deployment while its pods are killed', async () => {
    const { namespace } = await nodeTest.traced('storm');
    const names = Array.from({ length: 30 }, (_, index) => `app-${index}`);
    const pods = await getPods(nodeTest.system.node, 'lumigo-system', managerSelector);
    for (const [index, name] of names.entries()) {
      await nodeTest.apply(deployment(namespace, name, { replicas: 0 }));
      const victim = index === 5 ? pods[0] : index === 15 ? pods[1] : undefined;
      if (victim !== undefined)
        await nodeTest.client.delete({
          group: '',
          version: 'v1',
          plural: 'pods',
          namespace: 'lumigo-system',
          name: victim.metadata.name,
        });
      await sleep(100);
    }
    const deployments = { ...kinds.deployments, namespace };
    await eventually(
      async () => {
        const missing: string[] = [];
        for await (const { items } of nodeTest.client.pages(deployments))
          for (const item of items)
            if (!JSON.stringify(item).includes('"lumigo-injector"')) missing.push(item.metadata.name ?? '');
        expect(missing).toEqual([]);
      },
      { timeoutMs: 90_000, intervalMs: 500 },
    );
    await waitForOperator(nodeTest.system.node);
  });

  it('and its traced programs continue when the kubelet is restarted', async () => {
    const { namespace } = await nodeTest.traced('kubelet');
    await nodeTest.apply(deployment(namespace, 'front'), service(namespace, 'front'));
    const [before] = await nodeTest.waitForRunning(namespace, 'front');
    const url = await nodeTest.getAddress(namespace, 'front');
    await nodeTest.countSpans(url, ({ resource }) => resource['k8s.namespace.name'] === namespace);
    await nodeTest.system.node.restartKubelet();
    await sleep(5_000);
    const [after] = await nodeTest.waitForRunning(namespace, 'front');
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0]);
    const count = (await nodeTest.system.sink.spans()).length;
    await ask(url, 10_000);
    await eventually(async () => expect((await nodeTest.system.sink.spans()).length).toBeGreaterThan(count), {
      timeoutMs: 20_000,
    });
    await nodeTest.apply(deployment(namespace, 'later'), service(namespace, 'later'));
    await nodeTest.waitForRunning(namespace, 'later');
  });
});
