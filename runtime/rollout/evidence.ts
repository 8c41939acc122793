import type * as api from '@kubernetes/client-node';
import { injector } from '../contract.ts';
import { withoutTokens } from '../wording/token.ts';
import type { Sparse } from '../api/objects.ts';
import { printable } from '../wording/printable.ts';

export interface LookedAtPod {
  readonly name: string;
  readonly isReady: boolean;
  /** The names of its containers that have the injection: another container's failure says nothing of it. */
  readonly injected: ReadonlySet<string>;
  readonly status: PodStatus;
}

export interface Look {
  readonly evidence: Evidence | undefined;
  /** One of them got past the injector. */
  readonly ran: boolean;
}

export interface Evidence {
  readonly cause: 'InjectorImage' | 'InjectorFailed' | 'Crash' | 'CannotStart' | 'PodsRefused' | 'NotReady';
  /** A sentence: container, reason, exit code, last words. */
  readonly message: string;
}

export type PodStatus = Sparse<api.V1PodStatus>;
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
type End = Sparse<api.V1ContainerStateTerminated>;

/** Whether the workload itself cannot be the cause: another one of the namespace would fare no better. */
export const isInjectors = ({ cause }: Pick<Evidence, 'cause'>): boolean =>
  cause === 'InjectorImage' || cause === 'InjectorFailed';

/** A kubelet that tries again alternates between the first two: each counts, and two looks have to agree. */
const noImage = new Set<string | undefined>([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
const noStart = new Set<string | undefined>([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);
/** A program that ends so often after its injection is taken to end because of it; what it does without shows whose fault it was. */
const CRASHES = 2;
const WORDS = 400;

/** What others wrote, as it may be shown: without tokens, without what steers a terminal, and not endless. */
export const shown = (text: string): string => withoutTokens(printable(text)).slice(0, 2 * WORDS);

/**
 * One pod that is well, or that shows nothing yet, acquits: a node, a registry or a Secret that comes late explains the others.
 * A single look convicts nothing (judge.ts asks for two).
 */
export function look(pods: readonly LookedAtPod[]): Look {
  return { evidence: evidenceAmong(pods), ran: pods.some(isPastInjector) };
}

function evidenceAmong(pods: readonly LookedAtPod[]): Evidence | undefined {
  if (pods.some(({ isReady }) => isReady)) return undefined;
  const found = pods.map(evidenceOf);
  const convincing = found.flatMap((evidence) => (evidence !== undefined && isConvincing(evidence) ? [evidence] : []));
  if (convincing.length < found.length) return undefined;
  return convincing.find(({ cause }) => cause === 'Crash') ?? convincing[0];
}

/** A container that cannot start may wait for a Secret of its user's. */
const isConvincing = (evidence: Evidence): boolean => isInjectors(evidence) || evidence.cause === 'Crash';

const isPastInjector = ({ status: { initContainerStatuses = [] } }: LookedAtPod): boolean =>
  initContainerStatuses.some(({ name, state }) => name === injector.container && state?.terminated?.exitCode === 0);

function evidenceOf({ name, injected, status }: LookedAtPod): Evidence | undefined {
  const containerStatuses = status.containerStatuses?.filter((each) => injected.has(each.name ?? '')) ?? [];
  const evidence = evidenceIn({ ...status, containerStatuses });
  return evidence && { ...evidence, message: `pod '${name}', ${evidence.message}` };
}

/**
 * What a pod with an injection shows against it; undefined for nothing. The user's own init containers have no injection, and run
 * before its own does.
 */
export function evidenceIn({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): Evidence | undefined {
  const own = initContainerStatuses.find(({ name }) => name === injector.container);
  return (own && againstInjector(own)) ?? containerStatuses.map(againstProgram).find((found) => found !== undefined);
}

function againstInjector(status: ContainerStatus): Evidence | undefined {
  const waiting = status.state?.waiting?.reason;
  if (noImage.has(waiting)) return { cause: 'InjectorImage', message: inWords(status) };
  return noStart.has(waiting) || endOf(status) !== undefined
    ? { cause: 'InjectorFailed', message: inWords(status) }
    : undefined;
}

function againstProgram(status: ContainerStatus): Evidence | undefined {
  if (noStart.has(status.state?.waiting?.reason)) return { cause: 'CannotStart', message: inWords(status) };
  return endsOf(status) >= CRASHES && endOf(status) !== undefined
    ? { cause: 'Crash', message: inWords(status) }
    : undefined;
}

/** How often a container has ended: one that is not started again yet has ended once more than it was restarted. */
const endsOf = ({ restartCount = 0, state }: ContainerStatus): number =>
  restartCount + (state?.waiting?.reason === 'CrashLoopBackOff' || state?.terminated !== undefined ? 1 : 0);

function endOf({ state, lastState }: ContainerStatus) {
  return [state?.terminated, lastState?.terminated].find((end) => end !== undefined && end.exitCode !== 0);
}

function inWords(status: ContainerStatus): string {
  const { state, name, restartCount = 0 } = status;
  const end = endOf(status);
  const ended = end === undefined ? [state?.waiting?.message] : endInWords(end, restartCount);
  const said = [state?.waiting?.reason, ...ended].filter((each) => each !== undefined && each !== '');
  return `container '${name}': ${shown(said.join(', '))}`;
}

const endInWords = ({ reason = 'ended', exitCode, message }: End, restarts: number): (string | undefined)[] => [
  `${reason} with exit code ${exitCode}`,
  restarts > 0 ? `${restarts} restarts` : undefined,
  message && `last output: ${message.trim().slice(-WORDS)}`,
];
