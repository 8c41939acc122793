import { injector } from '../../runtime/contract.ts';
import type { PodSpec } from '../../runtime/api/objects.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { isInstrumented } from '../lumigo.ts';

export type Outcome = 'ready' | 'unready' | 'no-injector-image' | 'crashes';

export interface Program {
  readonly injected: Outcome;
  readonly clean: Outcome;
}

type Status = Readonly<Record<string, unknown>>;

interface Row {
  readonly phase: 'Running' | 'Pending';
  readonly isReady?: true;
  readonly injector?: Status;
  readonly program?: Status;
}

const endedWith = (exitCode: number, reason: string): Status => ({
  terminated: { exitCode, reason, message: 'the last words' },
});

const rows: Readonly<Record<Outcome, Row>> = {
  ready: { phase: 'Running', isReady: true },
  unready: { phase: 'Running' },
  'no-injector-image': {
    phase: 'Pending',
    injector: { state: { waiting: { reason: 'ImagePullBackOff', message: 'not found' } } },
  },
  crashes: {
    phase: 'Running',
    program: { state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 3, lastState: endedWith(3, 'Error') },
  },
};

const succeeded: Status = { state: { terminated: { exitCode: 0, reason: 'Completed' } } };

export function podStatus(outcome: Outcome, pod: KubernetesObject): object {
  const { phase, isReady = false, injector: own = succeeded, program } = rows[outcome];
  const { containers = [] } = (pod['spec'] ?? {}) as Partial<PodSpec>;
  const now = new Date().toISOString().replace(/\.\d+/, '');
  return {
    phase,
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: now }],
    initContainerStatuses: isInstrumented(pod) ? [{ name: injector.container, ...own }] : [],
    containerStatuses: program === undefined ? [] : containers.map(({ name }) => ({ name, ...program })),
  };
}
