import type { LumigoResource } from '../injection/types.ts';
import type { Problem } from '../problem.ts';

export interface Standing {
  /** The Lumigo that acts for the namespace; there is one wherever this is asked. */
  readonly acting: LumigoResource;
  readonly excluded: boolean;
  /** What is wrong with the acting Lumigo's credential. */
  readonly credential: Problem | undefined;
}

/** What keeps a Lumigo from acting, if anything. */
export function problemOf(lumigo: LumigoResource, { acting, excluded, credential }: Standing): Problem | undefined {
  const { namespace, uid } = lumigo.metadata;
  if (excluded)
    return {
      reason: 'NamespaceExcluded',
      message: `Workloads in the '${namespace}' namespace are never instrumented; create the Lumigo in the namespace of your workloads`,
    };
  if (uid === acting.metadata.uid) return credential;
  return {
    reason: 'DuplicateLumigo',
    message: `The older Lumigo '${acting.metadata.name}' acts for the '${namespace}' namespace; delete one of the two`,
  };
}
