import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { annotations, labels, workloadKinds } from '../../runtime/contract.ts';
import { revertOf } from '../../runtime/injection/revert.ts';
import { stampOf } from '../../runtime/injection/stamp.ts';
import { restrictedNamespace } from '../node/apps.ts';
import { tokenOf } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView, secondsSince } from './rollout-view.ts';
import { prepareTouchy, touchyDeployment, type Behavior } from './touchy.ts';

const { deployment: deployments } = workloadKinds;
const LONG_MS = 300_000;
let bench: NodeTest;
let view: RolloutView;
beforeAll(async () => {
  bench = await NodeTest.start({ rollout: { soakSeconds: 5, deadlineSeconds: 120 } });
  view = new RolloutView(bench);
}, LONG_MS);
afterAll(() => bench?.stop());

const mark = (namespace: string, metadata: object) => bench.merge(deployments, namespace, 'app', { metadata });

const whenRolledOut = async (namespace: string): Promise<string> => {
  const started = Date.now();
  await bench.activate(namespace, {}, tokenOf(40));
  await bench.whenRunning(namespace, 'app', { timeoutMs: 75_000 });
  await view.whenVerified(namespace, 'app');
  return secondsSince(started);
};

const stampAt = (at: string): string =>
  `added ${at} by controller; secret=lumigo-credentials/token traces=true logs=false label=true`;
const FUTURE = '2099-01-01T00:00:00.000Z';

interface Forgery {
  readonly program: Behavior;
  readonly text: () => string;
  readonly isRepeated?: true;
}

const forgeries: Readonly<Record<string, Forgery>> = {
  'forged-future': { program: 'serve', text: () => stampAt(FUTURE) },
  'forged-now': { program: 'serve', text: () => stampAt(new Date().toISOString()), isRepeated: true },
  'forged-unready': { program: 'never', text: () => stampAt(FUTURE) },
  'forged-revert': {
    program: 'serve',
    text: () => `reverted ${FUTURE} by controller; cause=InjectorImage attempt=1 key=${'0'.repeat(16)}: a lie`,
    isRepeated: true,
  },
};

it(
  'rolls out a namespace beside five Deployments of another that exit when preloaded [F65]',
  async () => {
    const names = Array.from({ length: 5 }, (_, index) => `app-${index}`);
    await bench.apply(restrictedNamespace('preloaded'));
    await bench.activate('preloaded', {}, tokenOf(41));
    await bench.whenWebhookInjects('preloaded');
    // The webhook injects all of them before any is judged. The reconciler adds one that it misses, until the namespace halts.
    for (const name of names) await bench.apply(touchyDeployment('preloaded', name, 'crash', { replicas: 1 }));
    await prepareTouchy(bench, 'neighbour', { app: 'serve' }, { replicas: 1 });
    await view.whenReason('preloaded', /^(Halted|Reverted)$/);
    await Promise.all(names.map((name) => view.whenWithoutInjection('preloaded', name)));
    const reverts = await Promise.all(
      names.map(async (name) => revertOf((await view.read('preloaded', name)).metadata)),
    );
    const causes = reverts.flatMap((revert) => revert?.cause ?? []);
    process.stderr.write(`      ${causes.length} of ${names.length} were injected and reverted\n`);
    expect(causes.length).toBeGreaterThanOrEqual(2);
    expect(new Set(causes)).toEqual(new Set(['Crash']));
    const took = await whenRolledOut('neighbour');
    process.stderr.write(`      the neighbour is verified after ${took} s\n`);
    expect(await view.condition('neighbour')).toMatchObject({ status: 'True', reason: 'Complete' });
    for (const name of names) await bench.whenRunning('preloaded', name, { instrumented: false });
  },
  LONG_MS,
);

async function tenant(namespace: string, program: Behavior): Promise<void> {
  const { metadata, ...rest } = touchyDeployment(namespace, 'app', program, { replicas: 1 });
  const optIn = { ...metadata, labels: { ...metadata.labels, [labels.autoTrace]: 'true' } };
  await bench.apply(restrictedNamespace(namespace), { ...rest, metadata: optIn });
}

it(
  'rolls out a namespace beside four namespaces with forged stamps [F65]',
  async () => {
    const names = Object.keys(forgeries);
    await Promise.all(names.map((name) => tenant(name, forgeries[name]?.program ?? 'serve')));
    await prepareTouchy(bench, 'stranger', { app: 'serve' }, { replicas: 1 });
    await Promise.all(names.map((name) => view.whenInjected(name, 'app', 60_000)));
    const forge = (name: string) =>
      mark(name, { annotations: { [annotations.instrumentation]: forgeries[name]?.text() } });
    await Promise.all(names.map(forge));
    const repeated = names.filter((name) => forgeries[name]?.isRepeated);
    const timer = setInterval(() => repeated.forEach((name) => void forge(name).catch(() => undefined)), 1_000);
    const took = await whenRolledOut('stranger').finally(() => clearInterval(timer));
    process.stderr.write(`      the stranger is verified after ${took} s\n`);
    expect(stampOf((await view.read('forged-future', 'app')).metadata)?.at).toBe(FUTURE);
  },
  LONG_MS,
);
