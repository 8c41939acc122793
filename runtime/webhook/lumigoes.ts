import { probeEchoPrefix, probeLabel } from '../contract.ts';
import type { LumigoStore } from '../lumigo-store.ts';
import { allowed, type AdmissionRequest, type Answer } from './review.ts';

type Lumigoes = Pick<LumigoStore, 'in' | 'isExcluded'>;

/**
 * Decides one review of a Lumigo resource: a second one in a namespace is refused where it is created, with the name of
 * the first. (One that gets in while no webhook answers is told so in its status.) A probe is answered by its own echo.
 */
export function reviewLumigo(request: AdmissionRequest, lumigoes: Lumigoes): Answer {
  const metadata = request.object?.metadata;
  const probe = request.dryRun === true ? metadata?.labels?.[probeLabel] : undefined;
  if (probe !== undefined) return allowed('probe', [probeEchoPrefix + probe]);
  if (request.operation !== 'CREATE') return allowed('nothing to check');
  return reviewCreation(request.namespace ?? metadata?.namespace ?? '', lumigoes);
}

function reviewCreation(namespace: string, lumigoes: Lumigoes): Answer {
  const hint = `Lumigo: the operator instruments nothing in the '${namespace}' namespace; create the Lumigo in the namespace of your workloads`;
  if (lumigoes.isExcluded(namespace)) return allowed('excluded namespace', [hint]);
  const [first] = lumigoes.in(namespace);
  if (first === undefined) return allowed('the first Lumigo of its namespace');
  return {
    allowed: false,
    code: 409,
    message: `There is already a Lumigo in the '${namespace}' namespace: '${first.metadata.name}'. Change that one, or delete it first.`,
  };
}
