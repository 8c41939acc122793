import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../node/ask.ts';
import { getToken } from '../testing/telemetry.ts';
import { deployment, restrictedNamespace, service } from '../node/apps.ts';
import { NodeTest } from './node-test.ts';

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
    const env = [{ name: 'GRACE_MS', value: '5000' }];
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
