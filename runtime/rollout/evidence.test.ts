import { describe, expect, it } from '@jest/globals';
import { look, shown, type ContainerStatus, type LookedAtPod, type PodStatus } from './evidence.ts';

const injector = (more: Partial<ContainerStatus>): PodStatus => ({
  initContainerStatuses: [{ name: 'lumigo-injector', ...more }],
});
const app = (more: Partial<ContainerStatus>): PodStatus => ({ containerStatuses: [{ name: 'app', ...more }] });
const waiting = (reason: string, message = '') => ({ state: { waiting: { reason, message } } });
const ended = (exitCode: number, more: object = {}) => ({ lastState: { terminated: { exitCode, ...more } } });

const pod = (more: Partial<LookedAtPod>): LookedAtPod => ({
  name: 'p',
  isReady: false,
  injected: new Set(['app', 'migrate']),
  status: {},
  ...more,
});
const evidenceIn = (status: PodStatus) => look([pod({ status })]).evidence;

const exited = { state: { terminated: { exitCode: 0 } } };
const crashing = (name: string): ContainerStatus => ({
  name,
  restartCount: 2,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { exitCode: 1 } },
});
const migration = (more: Partial<ContainerStatus>): PodStatus => ({
  initContainerStatuses: [
    { name: 'lumigo-injector', ...exited },
    { name: 'migrate', ...more },
  ],
});

const cases: readonly [title: string, status: PodStatus, cause: string | undefined][] = [
  ['nothing yet', {}, undefined],
  ['an injector that is being pulled', injector(waiting('PodInitializing')), undefined],
  ['an injector whose pull failed [F58]', injector(waiting('ErrImagePull')), 'InjectorImage'],
  ['an injector whose pull is tried again later [F58]', injector(waiting('ImagePullBackOff')), 'InjectorImage'],
  ['an injector whose registry is away', injector(waiting('RegistryUnavailable')), 'InjectorImage'],
  ['an injector whose signature is wrong', injector(waiting('SignatureValidationFailed')), 'InjectorImage'],
  ['an injector of no valid name', injector(waiting('InvalidImageName')), 'InjectorImage'],
  ['an injector that may not be pulled and is not there', injector(waiting('ErrImageNeverPull')), 'InjectorImage'],
  ['an injector that cannot be started', injector(waiting('CreateContainerError')), 'InjectorFailed'],
  ['an injector that cannot be run', injector(waiting('RunContainerError')), 'InjectorFailed'],
  ['an injector that failed', injector(ended(1)), 'InjectorFailed'],
  ['an injector that did its work', injector(exited), undefined],
  ['an injector that did its work at its second try', injector({ ...exited, ...ended(137) }), undefined],
  ["an image of the user's own that cannot be pulled", app(waiting('ImagePullBackOff')), undefined],
  ['a program that ended once', app({ restartCount: 1, ...ended(1) }), undefined],
  ['a program that ends for the first time', app({ ...waiting('CrashLoopBackOff'), ...ended(1) }), undefined],
  ['a program that ended twice', app({ restartCount: 2, ...ended(1) }), 'Crash'],
  ['a program that ended again', app({ restartCount: 1, ...waiting('CrashLoopBackOff'), ...ended(1) }), 'Crash'],
  ['a program that ends without an error', app({ restartCount: 5, ...ended(0) }), undefined],
  [
    'a program that outgrew its memory twice',
    app({ restartCount: 2, ...ended(137, { reason: 'OOMKilled' }) }),
    'Crash',
  ],
  [
    "an init container of the user's own, which has no injection",
    { initContainerStatuses: [{ name: 'wait-for-db', restartCount: 5, ...waiting('CrashLoopBackOff'), ...ended(1) }] },
    undefined,
  ],
  ['an injected init container that ended twice', migration(crashing('migrate')), 'Crash'],
  [
    'an injected init container that succeeded at last',
    migration({ restartCount: 2, ...exited, ...ended(1) }),
    undefined,
  ],
  ['a program that succeeded at last', app({ restartCount: 2, ...exited, ...ended(1) }), undefined],
  ['a container that cannot be created', app(waiting('CreateContainerConfigError', 'no such key')), undefined],
];

describe('the evidence against an injection', () => {
  it.each(cases)('%s', (_title, status, cause) => expect(evidenceIn(status)?.cause).toBe(cause));

  it('names pod, container, reason, exit code and last output, without token or control sequences', () => {
    const words = `boom \u001b[31m t_${'0'.repeat(21)}\n`;
    const status = { ...app({ restartCount: 3, ...waiting('CrashLoopBackOff'), ...ended(3, { message: words }) }) };
    expect(evidenceIn(status)?.message).toBe(
      "pod 'p', container 'app': CrashLoopBackOff, ended with exit code 3, 3 restarts, last output: boom �[31m t_…",
    );
    const long = app({ restartCount: 2, ...ended(1, { message: `${'x'.repeat(5_000)}the end` }) });
    expect(evidenceIn(long)?.message).toMatch(/last output: x{393}the end$/);
    expect(shown('x'.repeat(5_000))).toHaveLength(800);
  });

  it('has no half of a character where the output is cut, which the API server would replace', () => {
    const long = '🚀'.repeat(500);
    for (const shift of ['', 'x']) {
      const output = app({ restartCount: 2, ...ended(1, { message: `${long}${shift}` }) });
      const pull = injector(waiting('ErrImagePull', `${shift}${long}`));
      expect(`${evidenceIn(output)?.message} ${evidenceIn(pull)?.message}`).not.toMatch(/\p{Cs}/u);
    }
  });

  it('has no part of a token where the output is cut', () => {
    const words = `t_${'a'.repeat(21)}${'x'.repeat(379)}`;
    expect(evidenceIn(app({ restartCount: 2, ...ended(1, { message: words }) }))?.message).not.toMatch(/a{5}/);
  });

  it.each([
    [{}, "pod 'p', container 'lumigo-injector': ended with exit code 1"],
    [{ restartCount: 1 }, "pod 'p', container 'lumigo-injector': ended with exit code 1, 1 restarts"],
  ])('counts restarts: %j', (restarts, message) => {
    expect(evidenceIn(injector({ ...restarts, ...ended(1) }))?.message).toBe(message);
  });
});

const noImage = pod({ status: injector(waiting('ImagePullBackOff')) });
const killed = pod({ status: injector(ended(137)) });
const crashes = pod({ status: { containerStatuses: [crashing('app')] } });
const ready = pod({ isReady: true, status: { containerStatuses: [{ name: 'app', restartCount: 2 }] } });

const missesSecret: ContainerStatus = { name: 'other', ...waiting('CreateContainerConfigError', 'no such Secret') };
const awaits = pod({
  injected: new Set(['app', 'other']),
  status: { containerStatuses: [crashing('app'), missesSecret] },
});

const rows: readonly [title: string, pods: readonly LookedAtPod[], cause: string | undefined][] = [
  ['no pod yet', [], undefined],
  ['pods that show nothing yet', [pod({}), pod({})], undefined],
  ['every pod without the image of the injector', [noImage, noImage], 'InjectorImage'],
  ['one node that cannot pull the injector [F64]', [noImage, ready], undefined],
  ['one pod without the image, and one that shows nothing yet [F64]', [noImage, pod({})], undefined],
  ['an injector that was killed beside a pod that runs [F64]', [killed, ready], undefined],
  ['every pod keeps restarting', [crashes, crashes], 'Crash'],
  ['one pod that keeps restarting beside one that shows nothing yet [F64]', [crashes, pod({})], undefined],
  ['one without the image, and one that keeps restarting', [noImage, crashes], 'Crash'],
  ['one whose other container waits for a Secret', [awaits], undefined],
  ['a pod that keeps restarting beside one that is ready', [crashes, ready], undefined],
  ['a pod that succeeded at its second try', [pod({ status: { ...crashes.status, phase: 'Succeeded' } })], undefined],
  [
    'a sidecar without injection that keeps restarting [F64]',
    [pod({ status: { containerStatuses: [crashing('istio-proxy')] } })],
    undefined,
  ],
];

describe('a check of the pods of a generation', () => {
  it.each(rows)('%s', (_title, pods, cause) => expect(look(pods).evidence?.cause).toBe(cause));

  it('notices that a pod has passed the injector', () => {
    const past = pod({ status: injector(exited) });
    expect([look([noImage, past]).ran, look([noImage, killed]).ran]).toEqual([true, false]);
    expect([look([past]).isAny, look([]).isAny]).toEqual([true, false]);
  });

  it.each<[title: string, migrate: Partial<ContainerStatus>, ran: boolean]>([
    ['ended without an error', { ...exited, started: false, ready: true }, true],
    ['runs, as an ordinary one', { state: { running: {} }, started: true, ready: false }, false],
    ['runs, as a native sidecar', { state: { running: {} }, started: true, ready: true }, true],
    ['failed once', { state: { terminated: { exitCode: 1 } }, started: false, ready: false }, false],
    ['waits for its restart', { ...waiting('CrashLoopBackOff'), ...ended(1) }, false],
  ])('notices that a pod has passed the injector, if its injected init container %s: %j', (_title, migrate, ran) => {
    expect(look([pod({ status: migration(migrate) })]).ran).toBe(ran);
  });

  it.each([
    ['Succeeded', true],
    ['Failed', false],
  ])('judges a native sidecar that was stopped at the end of its pod by the phase %s', (phase, ran) => {
    const stopped = migration({ state: { terminated: { exitCode: 143 } }, started: false, ready: false });
    expect(look([pod({ status: { ...stopped, phase } })]).ran).toBe(ran);
  });

  it('knows if each program that crashed runs again', () => {
    const running = { ...crashing('app'), state: { running: {} } };
    const runs = pod({ status: { containerStatuses: [running] } });
    const one = pod({ status: { containerStatuses: [running, crashing('app')] } });
    const seen = [look([runs, runs]), look([runs, crashes]), look([one])];
    expect(seen.map(({ evidence }) => evidence?.mayEnd)).toEqual([true, undefined, undefined]);
  });

  it('knows if each injector that failed runs again [F64]', () => {
    const runs = pod({ status: injector({ state: { running: {} }, ...ended(137) }) });
    const seen = [look([runs, runs]), look([runs, killed]), look([killed, runs])];
    const evidence = { cause: 'InjectorFailed', mayEnd: undefined };
    expect(seen.map((each) => each.evidence)).toMatchObject([{ ...evidence, mayEnd: true }, evidence, evidence]);
  });
});

describe('a Job without pods', () => {
  const started = { startTime: '2026-06-01T00:00:00Z', ready: 0 };
  const suspended = { conditions: [{ type: 'Suspended', status: 'True' }] };
  const resumed = { conditions: [{ type: 'Suspended', status: 'False' }] };
  it.each<[title: string, status: object, spec: object, cause: string | undefined]>([
    ['is evidence once it has started', started, {}, 'PodsRefused'],
    ['is evidence after it was suspended', { ...started, ...resumed }, {}, 'PodsRefused'],
    ['is none before', {}, {}, undefined],
    ['is none while it is suspended', { ...started, ...suspended }, {}, undefined],
    ['is none if it wants none', started, { parallelism: 0 }, undefined],
    ['is none if a pod runs', { ...started, active: 1 }, {}, undefined],
    ['is none if a pod succeeded', { ...started, succeeded: 1 }, {}, undefined],
    ['is none if a pod failed', { ...started, failed: 1 }, {}, undefined],
    ['is none if a pod is being deleted', { ...started, terminating: 1 }, {}, undefined],
    ['is none at its end', { ...started, conditions: [{ type: 'Failed', status: 'True' }] }, {}, undefined],
  ])('%s', (_title, status, spec, cause) => {
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'nightly' }, spec, status };
    const evidence = cause && expect.objectContaining({ cause, mayEnd: true });
    expect(look([], job)).toEqual({ evidence, ran: false, isAny: false });
  });
});
