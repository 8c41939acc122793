import { describe, expect, it } from '@jest/globals';
import type { ContainerStatus } from './evidence.ts';
import { look, type LookedAtPod } from './look.ts';

const waiting = (name: string, reason: string): ContainerStatus => ({ name, state: { waiting: { reason } } });
const crashing = (name: string): ContainerStatus => ({
  ...{ name, restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } } },
  lastState: { terminated: { exitCode: 1 } },
});

const pod = (more: Partial<LookedAtPod>): LookedAtPod => ({
  ...{ name: 'p', isReady: false, injected: new Set(['app']), status: {} },
  ...more,
});
const noImage = pod({ status: { initContainerStatuses: [waiting('lumigo-injector', 'ImagePullBackOff')] } });
const killed = pod({
  status: {
    initContainerStatuses: [{ name: 'lumigo-injector', lastState: { terminated: { exitCode: 137 } } }],
  },
});
const crashes = pod({ status: { containerStatuses: [crashing('app')] } });
const ready = pod({ isReady: true, status: { containerStatuses: [{ name: 'app', restartCount: 2 }] } });

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
  ['a pod that keeps restarting beside one that is ready', [crashes, ready], undefined],
  [
    'a sidecar without injection that keeps restarting [F64]',
    [pod({ status: { containerStatuses: [crashing('istio-proxy')] } })],
    undefined,
  ],
  [
    'a Secret that comes later [F64]',
    [pod({ status: { containerStatuses: [waiting('app', 'CreateContainerConfigError')] } })],
    undefined,
  ],
  [
    "an image of the user's that cannot be pulled",
    [pod({ status: { containerStatuses: [waiting('app', 'ImagePullBackOff')] } })],
    undefined,
  ],
];

describe('one look at the pods of a generation', () => {
  it.each(rows)('%s', (_title, pods, cause) => expect(look(pods).evidence?.cause).toBe(cause));

  it('sees that a pod got past the injector', () => {
    const past = pod({
      status: { initContainerStatuses: [{ name: 'lumigo-injector', state: { terminated: { exitCode: 0 } } }] },
    });
    expect([look([noImage, past]).ran, look([noImage, killed]).ran]).toEqual([true, false]);
  });

  it('names the pod that it is about', () =>
    expect(look([crashes]).evidence?.message).toMatch(/^pod 'p', container 'app'/));
});
