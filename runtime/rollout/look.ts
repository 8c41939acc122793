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

/**
 * Returns what one look at the pods of a generation shows against their injection; undefined for nothing.
 * One pod that is well, or that shows nothing yet, acquits: a node, a registry or a Secret that comes late explains the others.
 * A single look convicts nothing (workload-state.ts asks for two).
 */
export function evidenceAmong(pods: readonly LookedAtPod[]): Evidence | undefined {
  if (pods.some(({ isReady }) => isReady)) return undefined;
  const found = pods.map(evidenceOf);
  const injectors = found.filter((evidence) => evidence !== undefined && isInjectors(evidence));
  if (found.length > 0 && injectors.length === found.length) return injectors[0];
  return found.find((evidence) => evidence?.cause === 'Crash');
}

function evidenceOf({ name, injected, status }: LookedAtPod): Evidence | undefined {
  const ours = (each: { readonly name?: string }): boolean => injected.has(each.name ?? '');
  const evidence = evidenceIn({
    initContainerStatuses: status.initContainerStatuses?.filter((each) => each.name === injector.container) ?? [],
    containerStatuses: status.containerStatuses?.filter(ours) ?? [],
  });
  return evidence && { ...evidence, message: `pod '${name}', ${evidence.message}` };
}
