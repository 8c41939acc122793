import { probeEchoPrefix, probeLabel } from '../contract.ts';
import type { LumigoResource } from '../injection/types.ts';
import type { AdmissionRequest, Answer } from './review.ts';

export interface LumigoesContext {
  readonly lumigoes: (namespace: string) => readonly LumigoResource[];
  readonly isExcluded: (namespace: string) => boolean;
}

/**
 * Decides one review of a Lumigo resource: a second one in a namespace is refused where it is created, with the name of
 * the first. (One that gets in while no webhook answers is told so in its status.) A probe is answered by its own echo.
 */
export function reviewLumigo(request: AdmissionRequest, context: LumigoesContext): Answer {
  const metadata = request.object?.metadata;
  const probe = request.dryRun === true ? metadata?.labels?.[probeLabel] : undefined;
  if (probe !== undefined) return allow('probe', [probeEchoPrefix + probe]);
  if (request.operation !== 'CREATE') return allow('nothing to check');
  return reviewCreation(request.namespace ?? metadata?.namespace ?? '', context);
}

function reviewCreation(namespace: string, context: LumigoesContext): Answer {
  const hint = `Lumigo: the operator instruments nothing in the '${namespace}' namespace; create the Lumigo in the namespace of your workloads`;
  if (context.isExcluded(namespace)) return allow('excluded namespace', [hint]);
  const [first] = context.lumigoes(namespace);
  if (first === undefined) return allow('the first Lumigo of its namespace');
  return {
    allowed: false,
    code: 409,
    message: `There is already a Lumigo in the '${namespace}' namespace: '${first.metadata.name}'. Change that one, or delete it first.`,
  };
}

const allow = (message: string, warnings: readonly string[] = []): Answer => ({
  allowed: true,
  code: 200,
  message,
  warnings,
});
