import type * as api from '@kubernetes/client-node';
import { injector } from '../contract.ts';
import { withoutTokens } from '../wording/token.ts';
import type { DeepPartial, Workload } from '../api/objects.ts';
import { printable } from '../wording/printable.ts';
import { isWithoutPods } from './completion.ts';

export interface LookedAtPod {
  readonly name: string;
  readonly isReady: boolean;
  /** Names of its injected containers. The failure of another container is no evidence. */
  readonly injected: ReadonlySet<string>;
  readonly status: PodStatus;
}

export interface Look {
  readonly evidence: Evidence | undefined;
  readonly ran: boolean;
  readonly isAny: boolean;
}

export const causes = ['InjectorImage', 'InjectorFailed', 'Crash', 'PodsRefused', 'NotReady'] as const;

export interface Evidence {
  readonly cause: (typeof causes)[number];
  readonly message: string;
  /** The container runs again after its last exit, or the API server may accept the next pod. */
  readonly mayEnd?: true | undefined;
}

export type PodStatus = DeepPartial<api.V1PodStatus>;
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type End = DeepPartial<api.V1ContainerStateTerminated>;

/** Returns whether the workload cannot be the cause, so that any other one would fail as well. */
export const isInjectors = ({ cause }: Pick<Evidence, 'cause'>): boolean => cause.startsWith('Injector');

/** A kubelet that retries alternates between the first two. Each counts, and two looks must agree. */
const noImage = new Set<string | undefined>([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
const noStart = new Set<unknown>(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);
/** Exits after which an injection is reverted. The program then shows the cause without it. */
const CRASHES = 2;
const WORDS = 400;

/** Returns a foreign text for people: without tokens, without terminal control characters, and shortened. */
export const shown = (text: string): string => printable(withoutTokens(text).slice(0, 2 * WORDS));

/** @param job the one that should have these pods, if it has none */
export function look(pods: readonly LookedAtPod[], job?: Workload): Look {
  const evidence = evidenceAmong(pods) ?? (job && evidenceIn(job));
  return { evidence, ran: pods.some(isPastInjector), isAny: pods.length > 0 };
}

function evidenceIn(job: Workload): Evidence | undefined {
  const message = `the API server refuses its pods: see the events of Job/${job.metadata.name}`;
  return isWithoutPods(job) ? { cause: 'PodsRefused', message, mayEnd: true } : undefined;
}

/** One healthy or silent pod clears the injection, because a slow node, registry or Secret can explain the others. */
function evidenceAmong(pods: readonly LookedAtPod[]): Evidence | undefined {
  if (pods.some(({ isReady, status }) => isReady || status.phase === 'Succeeded')) return undefined;
  const found = pods.map(findEvidence);
  if (found.includes(undefined)) return undefined;
  return downFirst(found.filter((evidence) => evidence?.cause === 'Crash')) ?? downFirst(found);
}

const downFirst = (found: readonly (Evidence | undefined)[]): Evidence | undefined =>
  found.find((each) => each !== undefined && each.mayEnd !== true) ?? found.find((each) => each !== undefined);

/** The crash of an injected init container may follow until it is ready: a native sidecar runs, another one succeeded. */
const isPastInjector = ({ injected, status: { phase, initContainerStatuses: inits = [] } }: LookedAtPod): boolean =>
  inits.some(({ name, state }) => name === injector.container && state?.terminated?.exitCode === 0) &&
  // At the end of a pod, the kubelet stops its native sidecars, mostly with exit code 143.
  (phase === 'Succeeded' || inits.every(({ name = '', ready }) => !injected.has(name) || ready));

function findEvidence({ name, injected, status }: LookedAtPod): Evidence | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  const own = initContainerStatuses.find((each) => each.name === injector.container);
  const programs = [...containerStatuses, ...initContainerStatuses].filter((each) => injected.has(each.name ?? ''));
  // A container that cannot start may wait for a user's Secret, and others of its pod for it.
  const isWaiting = programs.some(({ state }) => noStart.has(state?.waiting?.reason));
  const evidence = (own && againstInjector(own)) ?? (isWaiting ? undefined : downFirst(programs.map(againstProgram)));
  return evidence && { ...evidence, message: `pod '${name}', ${evidence.message}` };
}

function againstInjector(status: ContainerStatus): Evidence | undefined {
  const { waiting } = status.state ?? {};
  if (noImage.has(waiting?.reason)) return toEvidence('InjectorImage', status);
  const isFailed = noStart.has(waiting?.reason) || findTermination(status) !== undefined;
  return isFailed ? toEvidence('InjectorFailed', status) : undefined;
}

const againstProgram = (status: ContainerStatus): Evidence | undefined =>
  getTerminations(status) < CRASHES || findTermination(status) === undefined ? undefined : toEvidence('Crash', status);

const toEvidence = (cause: Evidence['cause'], status: ContainerStatus): Evidence => ({
  cause,
  message: inWords(status, findTermination(status)),
  mayEnd: status.state?.running && true,
});

/** A container that waits for its restart has exited once more than its restart count. */
const getTerminations = ({ restartCount = 0, state }: ContainerStatus): number =>
  restartCount + (state?.waiting?.reason === 'CrashLoopBackOff' || state?.terminated !== undefined ? 1 : 0);

/** A container that ended without an error has recovered, whatever its earlier exits were. */
function findTermination({ state, lastState }: ContainerStatus) {
  const end = state?.terminated ?? lastState?.terminated;
  return end?.exitCode === 0 ? undefined : end;
}

function inWords({ state, name, restartCount = 0 }: ContainerStatus, end?: End): string {
  const ended = end === undefined ? [state?.waiting?.message] : endInWords(end, restartCount);
  const details = [state?.waiting?.reason, ...ended].filter((each) => each !== undefined && each !== '');
  return `container '${name}': ${shown(details.join(', '))}`;
}

const endInWords = ({ reason = 'ended', exitCode, message }: End, restarts: number): (string | undefined)[] => [
  `${reason} with exit code ${exitCode}`,
  restarts > 0 ? `${restarts} restarts` : undefined,
  // A token that is cut would not be recognized.
  message && `last output: ${withoutTokens(message).trim().slice(-WORDS)}`,
];
