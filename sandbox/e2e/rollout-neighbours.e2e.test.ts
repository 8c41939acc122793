import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { annotations, labels, workloadKinds } from '../../runtime/contract.ts';
import { getInjectionStatus } from '../../runtime/injection/injection-status.ts';
import { restrictedNamespace } from '../node/apps.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView, secondsSince } from './rollout-view.ts';
import { prepareStrictApps, strictDeployment, type Behavior } from './strict-app.ts';

const { deployment: deployments } = workloadKinds;
let nodeTest: NodeTest;
let view: RolloutView;
beforeAll(async () => {
  nodeTest = await NodeTest.start({ rollout: { soakSeconds: 5, deadlineSeconds: 120 } });
  view = new RolloutView(nodeTest);
});
afterAll(() => nodeTest?.stop());

const mark = (namespace: string, metadata: object) => nodeTest.merge(deployments, namespace, 'app', { metadata });

async function waitForRolledOut(namespace: string): Promise<string> {
  const started = Date.now();
  await nodeTest.activate(namespace, {}, getToken(40));
  await nodeTest.waitForRunning(namespace, 'app', { replicas: 2, timeoutMs: 75_000 });
  await view.waitForVerified(namespace, 'app');
  const took = secondsSince(started);
  expect(Number(took)).toBeLessThan(195);
  return took;
}

const injectionStatusAt = (at: string): string =>
  `added ${at} by controller; secret=lumigo-credentials/token traces=true logs=false label=true`;
const FUTURE = '2099-01-01T00:00:00.000Z';

interface Forgery {
  readonly program: Behavior;
  readonly text: () => string;
  readonly isRepeated?: true;
}

const forgeries: Readonly<Record<string, Forgery>> = {
  'forged-future': { program: 'serve', text: () => injectionStatusAt(FUTURE) },
  'forged-now': { program: 'serve', text: () => injectionStatusAt(new Date().toISOString()), isRepeated: true },
  'forged-unready': { program: 'never', text: () => injectionStatusAt(FUTURE) },
  'forged-revert': {
    program: 'serve',
    text: () => `reverted ${FUTURE} by controller; cause=InjectorImage attempt=1 key=${'0'.repeat(16)}: a lie`,
    isRepeated: true,
  },
};

async function tenant(namespace: string, program: Behavior): Promise<void> {
  const { metadata, ...rest } = strictDeployment(namespace, 'app', program);
  const workload = { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, [labels.autoTrace]: 'true' } } };
  await nodeTest.apply(restrictedNamespace(namespace));
  // Only the webhook injects a program that is never ready, and the node routes to it a moment after its pods are ready.
  await nodeTest.waitForWebhook(namespace, workload);
  await nodeTest.apply(workload);
}

it('rolls out a namespace beside four namespaces with forged statuses [F65]', async () => {
  const names = Object.keys(forgeries);
  await Promise.all(names.map((name) => tenant(name, forgeries[name]?.program ?? 'serve')));
  await prepareStrictApps(nodeTest, 'stranger', { app: 'serve' });
  await Promise.all(names.map((name) => view.waitForInjected(name, 'app')));
  const forge = (name: string) =>
    mark(name, { annotations: { [annotations.instrumentation]: forgeries[name]?.text() } });
  await Promise.all(names.map(forge));
  const repeated = names.filter((name) => forgeries[name]?.isRepeated);
  const timer = setInterval(() => repeated.forEach((name) => void forge(name).catch(() => undefined)), 1_000);
  const took = await waitForRolledOut('stranger').finally(() => clearInterval(timer));
  process.stderr.write(`      the stranger is verified after ${took} s\n`);
  expect(getInjectionStatus((await nodeTest.get(deployments, 'forged-future', 'app')).metadata)?.at).toBe(FUTURE);
});
