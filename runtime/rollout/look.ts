import { injector } from '../contract.ts';
import { evidenceIn, isInjectors, type Evidence, type PodStatus } from './evidence.ts';

/** A pod of the generation that is judged. */
export interface LookedAtPod {
  readonly name: string;
  readonly isReady: boolean;
  /** The names of its containers that have the injection: another container's failure says nothing of it. */
  readonly injected: ReadonlySet<string>;
  readonly status: PodStatus;
}

/** The result of one look at the pods of a generation. */
export interface Look {
  /** The evidence against their injection; undefined for none. */
  readonly evidence: Evidence | undefined;
  /** One of them got past the injector. */
  readonly ran: boolean;
}

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
  const ours = (each: { readonly name?: string }): boolean => injected.has(each.name ?? '');
  const evidence = evidenceIn({
    initContainerStatuses: status.initContainerStatuses?.filter((each) => each.name === injector.container) ?? [],
    containerStatuses: status.containerStatuses?.filter(ours) ?? [],
  });
  return evidence && { ...evidence, message: `pod '${name}', ${evidence.message}` };
}
