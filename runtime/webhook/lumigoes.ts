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
  if (probe !== undefined) return { allowed: true, code: 200, message: 'probe', warnings: [probeEchoPrefix + probe] };
  if (request.operation !== 'CREATE') return { allowed: true, code: 200, message: 'nothing to check' };
  const namespace = request.namespace ?? metadata?.namespace ?? '';
  if (context.isExcluded(namespace))
    return {
      allowed: true,
      code: 200,
      message: 'excluded namespace',
      warnings: [
        `Lumigo: the operator instruments nothing in the '${namespace}' namespace; create the Lumigo in the namespace of your workloads`,
      ],
    };
  const [first] = context.lumigoes(namespace);
  if (first === undefined) return { allowed: true, code: 200, message: 'the first Lumigo of its namespace' };
  return {
    allowed: false,
    code: 409,
    message: `There is already a Lumigo in the '${namespace}' namespace: '${first.metadata.name}'. Change that one, or delete it first.`,
  };
}
