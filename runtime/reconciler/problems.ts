import type { LumigoResource } from '../injection/types.ts';
import type { Problem } from '../problem.ts';

export interface Standing {
  /** The Lumigo that acts for the namespace. */
  readonly acting: LumigoResource | undefined;
  readonly isExcluded: boolean;
  /** What is wrong with the acting Lumigo's credential. */
  readonly credential: Problem | undefined;
}

/** What keeps a Lumigo from acting, if anything. */
export function problemOf(
  { metadata }: LumigoResource,
  { acting, isExcluded, credential }: Standing,
): Problem | undefined {
  const { namespace, uid } = metadata;
  if (isExcluded)
    return {
      reason: 'NamespaceExcluded',
      message: `Workloads in the '${namespace}' namespace are never instrumented; create the Lumigo in the namespace of your workloads`,
    };
  if (acting === undefined || uid === acting.metadata.uid) return credential;
  return {
    reason: 'DuplicateLumigo',
    message: `The older Lumigo '${acting.metadata.name}' acts for the '${namespace}' namespace; delete one of the two`,
  };
}
