import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { annotations, labels, workloads } from '../contract.ts';
import { noteOf } from '../injection/rollout-note.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { PodsByHand } from '../../sandbox/testing/pods-by-hand.ts';

/** Rollouts against a real API server; what a Deployment's controller and a kubelet would write is written by hand. */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    settings: { rollout: { soakSeconds: 1, deadlineSeconds: 10 } },
    controllerManager: false,
    // Nobody makes the accounts that pods would have.
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
afterAll(() => operator?.stop());

const [deployment] = workloads;

/** A namespace with Deployments that run, and an active Lumigo as soon as it is asked for. */
async function stage(prefix: string, names: readonly string[]) {
  const { bench } = operator;
  const namespace = await bench.namespace(prefix);
  const hand = new PodsByHand(bench, namespace);
  for (const name of names) await hand.deployment(name);
  const instrumented = async () => {
    const found = [];
    for (const name of names) if (await bench.isInstrumented(deployment, namespace, name)) found.push(name);
    return found;
  };
  return {
    ...{ bench, namespace, hand, instrumented },
    whenInstrumented: (expected: readonly string[]) =>
      eventually(async () => expect(await instrumented()).toEqual(expected), { timeoutMs: 20_000 }),
    /** Nothing more happens for a while. */
    async stays(expected: readonly string[]) {
      for (const end = Date.now() + 3_000; Date.now() < end;) {
        expect(await instrumented()).toEqual(expected);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    /** Its new pods run, and its status says so. */
    async runs(...which: readonly string[]) {
      for (const name of which) {
        await hand.start(name, 'ready');
        await hand.settle(name);
      }
    },
    whenSaid: (expected: object) =>
      eventually(
        async () => {
          const { status } = await bench.readLumigo(namespace);
          expect(status?.conditions?.find(({ type }) => type === 'RolledOut')).toMatchObject(expected);
        },
        { timeoutMs: 20_000 },
      ),
    noteOf: async (name: string) => noteOf((await bench.get(deployment, namespace, name)).metadata),
    reasons: async (name: string) => (await bench.events(namespace, name)).map(({ reason }) => reason).sort(),
  };
}

describe('a rollout', () => {
  it('begins with one workload, and goes on with more as their pods run', async () => {
    const { bench, namespace, whenInstrumented, stays, runs, whenSaid } = await stage('waves', ['a', 'b', 'c', 'd']);
    await bench.activate(namespace);
    await whenInstrumented(['a']);
    await whenSaid({
      status: 'False',
      reason: 'Progressing',
      message: 'In progress: Deployment/a. 3 workloads are queued',
    });
    const listed = async () => (await bench.readLumigo(namespace)).status?.instrumentedResources;
    await eventually(async () => expect(await listed()).toMatchObject([{ name: 'a', state: 'OnTrial' }]));
    await stays(['a']);
    await runs('a');
    await whenInstrumented(['a', 'b', 'c']);
    await eventually(async () => expect(await listed()).toMatchObject([{ state: 'Proven' }, {}, {}]));
    await runs('b');
    await stays(['a', 'b', 'c']);
    await runs('c');
    await whenInstrumented(['a', 'b', 'c', 'd']);
    await runs('d');
    await whenSaid({ status: 'True', reason: 'Complete' });
  });

  it('F58: puts back what cannot start, exactly, halts, says why, and goes on when somebody asks for it', async () => {
    const { bench, namespace, hand, whenInstrumented, stays, whenSaid, ...seen } = await stage('missing', ['a', 'b']);
    const before = await bench.get(deployment, namespace, 'a');
    await bench.activate(namespace);
    await whenInstrumented(['a']);
    await hand.start('a', 'no-injector-image', 1);
    await whenInstrumented([]);
    const after = await bench.get(deployment, namespace, 'a');
    expect(after['spec']).toEqual(before['spec']);
    expect(await seen.noteOf('a')).toMatchObject({ cause: 'InjectorImage' });
    await hand.end('a');
    await hand.settle('a');
    await whenSaid({ reason: 'Halted' });
    await stays([]);
    const { message } =
      (await bench.readLumigo(namespace)).status?.conditions?.find(({ type }) => type === 'RolledOut') ?? {};
    expect(message).toContain('Deployment/a was reverted');
    expect(message).toContain("container 'lumigo-injector': ImagePullBackOff, not found");
    expect(await seen.reasons('a')).toEqual(['LumigoAddedInstrumentation', 'LumigoRevertedInstrumentation']);
    await eventually(async () => expect(await seen.reasons('lumigo')).toEqual(['LumigoRolloutHalted']));
    // Else it would be the first now: the one that is tried again has a rollout of its own just then.
    await bench.merge(deployment, namespace, 'b', { spec: { paused: true } });
    await bench.merge(deployment, namespace, 'a', { metadata: { annotations: { [annotations.retry]: '1' } } });
    await hand.settle('a');
    await whenInstrumented(['a']);
    expect(await seen.noteOf('a')).toBeUndefined();
  });

  it('goes on where it was when the operator is killed: with a workload on trial, and with one reverted', async () => {
    const { bench, namespace, hand, whenInstrumented, stays, runs, ...seen } = await stage('killed', ['a', 'b', 'c']);
    await bench.activate(namespace);
    await whenInstrumented(['a']);
    await operator.killManager();
    await operator.startManager();
    await stays(['a']);
    await runs('a');
    await whenInstrumented(['a', 'b', 'c']);
    await operator.killManager();
    await hand.start('b', 'crashes');
    await hand.start('c', 'no-injector-image');
    await operator.startManager();
    await whenInstrumented(['a']);
    expect([(await seen.noteOf('b'))?.cause, (await seen.noteOf('c'))?.cause]).toEqual(['Crash', 'InjectorImage']);
    expect((await seen.noteOf('b'))?.evidence).toContain('the last words');
    await hand.settle('b');
    await hand.settle('c');
    await operator.killManager();
    await operator.startManager();
    await stays(['a']);
  });

  it('leaves what is paused or fails until it is not, and waits for nothing without pods', async () => {
    const { bench, namespace, hand, whenInstrumented, whenSaid, runs } = await stage('blocked', [
      'fails',
      'paused',
      'still',
    ]);
    await bench.merge(deployment, namespace, 'paused', { spec: { paused: true } });
    await hand.settle('fails', 1);
    await bench.merge(deployment, namespace, 'still', { spec: { replicas: 0 } });
    await hand.settle('still');
    await bench.activate(namespace);
    await whenInstrumented(['still']);
    await whenSaid({
      reason: 'Blocked',
      message:
        'The operator waits because Deployment/fails has 1 of 2 pods not ready. The operator waits because Deployment/paused is paused',
    });
    await hand.settle('fails');
    await whenInstrumented(['fails', 'still']);
    await runs('fails');
  });

  it('puts back what does not get ready in time', async () => {
    const { bench, namespace, hand, whenInstrumented, ...seen } = await stage('slow', ['a']);
    await bench.activate(namespace);
    await whenInstrumented(['a']);
    await hand.start('a', 'unready');
    await whenInstrumented([]);
    expect(await seen.noteOf('a')).toMatchObject({ cause: 'NotReady' });
    await hand.settle('a');
  });

  it('carries an update in the same way: one that fails is taken out, the others keep what they had, and what is asked for next is tried', async () => {
    const { bench, namespace, hand, whenInstrumented, runs, whenSaid, ...seen } = await stage('update', ['a', 'b']);
    const before = await bench.get(deployment, namespace, 'a');
    await bench.activate(namespace);
    await whenInstrumented(['a']);
    await runs('a');
    await whenInstrumented(['a', 'b']);
    await runs('b');
    await whenSaid({ reason: 'Complete' });
    const former = await bench.get(deployment, namespace, 'b');
    await bench.changeLumigo(namespace, { spec: { logging: { enabled: true } } });
    const logs = async (name: string) => (await bench.get(deployment, namespace, name)).metadata.annotations;
    await eventually(async () => expect(JSON.stringify(await logs('a'))).toContain('logs=true'));
    await hand.end('a');
    await hand.start('a', 'no-injector-image', 1);
    await whenInstrumented(['b']);
    await hand.end('a');
    await hand.settle('a');
    await whenSaid({ reason: 'Halted' });
    expect((await bench.get(deployment, namespace, 'a'))['spec']).toEqual(before['spec']);
    expect(await seen.noteOf('a')).toMatchObject({ cause: 'InjectorImage' });
    expect((await bench.get(deployment, namespace, 'b'))['spec']).toEqual(former['spec']);
    await bench.changeLumigo(namespace, { spec: { logging: { enabled: false } } });
    await whenInstrumented(['a', 'b']);
    expect(await seen.noteOf('a')).toBeUndefined();
  });

  it('leaves no trace of a revert, neither when the Lumigo is deleted nor when the template changes', async () => {
    const { bench, namespace, hand, whenInstrumented, ...seen } = await stage('trace', ['a', 'b']);
    const before = await bench.get(deployment, namespace, 'a');
    await bench.activate(namespace);
    await whenInstrumented(['a']);
    await hand.start('a', 'no-injector-image', 1);
    await whenInstrumented([]);
    await hand.settle('a');
    await bench.merge(deployment, namespace, 'b', { spec: { template: { metadata: { labels: { version: '2' } } } } });
    await whenInstrumented(['b']);
    await bench.deleteLumigo(namespace);
    const { metadata } = await bench.get(deployment, namespace, 'a');
    expect([metadata.labels, metadata.annotations]).toEqual([before.metadata.labels, before.metadata.annotations]);
    expect(metadata.labels?.[labels.rollout]).toBeUndefined();
    expect(await seen.noteOf('a')).toBeUndefined();
  });
});

describe('what the webhook injects', () => {
  it('is watched as well, and reverted if its pods cannot start', async () => {
    const { bench } = operator;
    const { namespace, hand, ...seen } = await stage('webhook', []);
    await bench.activate(namespace);
    await hand.deployment('new');
    expect(await bench.isInstrumented(deployment, namespace, 'new')).toBe(true);
    await hand.start('new', 'no-injector-image');
    await bench.whenInstrumented(deployment, namespace, 'new', false);
    expect(await seen.noteOf('new')).toMatchObject({ cause: 'InjectorImage' });
  });
});
