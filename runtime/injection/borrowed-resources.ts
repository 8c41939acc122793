import { withoutEmpty } from './lists.ts';
import { parseQuantity } from './quantity.ts';
import type { Container, PodSpec, Resources } from './types.ts';

const borrowed = ['cpu', 'memory', 'ephemeral-storage'] as const;

/**
 * Resources for the init container that change nothing about the pod: for each resource the request and limit of the
 * one app container that asks for most of it. The quality-of-service class stays (init containers count: all of a
 * Guaranteed pod's must have limits equal to requests, none of a BestEffort pod's may ask for anything), quotas and limit
 * ranges that the pod passes are passed, and the pod's effective request, the larger of init and app containers, does not grow.
 */
export function borrowedResources(spec: PodSpec): Resources {
  const requests: Record<string, string | number> = {};
  const limits: Record<string, string | number> = {};
  for (const resource of borrowed) {
    const { request, limit } = most(spec.containers, resource);
    // The API server takes a limit without a request for both; written out, so that what it stores is what was meant.
    const asked = request ?? limit;
    if (asked !== undefined) requests[resource] = asked;
    if (limit !== undefined) limits[resource] = limit;
  }
  return withoutEmpty({ limits, requests }, ['limits', 'requests']);
}

interface Share {
  readonly request?: string | number | undefined;
  readonly limit?: string | number | undefined;
}

/** Request and limit of the container that asks for most. */
function most(containers: readonly Container[], resource: string): Share {
  const shares = containers.map(({ resources }) => ({
    request: resources?.requests?.[resource],
    limit: resources?.limits?.[resource],
  }));
  const amount = ({ request, limit }: Share) => parseQuantity(request ?? limit) ?? -1;
  return shares.reduce<Share>((largest, share) => (amount(share) > amount(largest) ? share : largest), {});
}
