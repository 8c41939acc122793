import { withoutEmpty } from '../json/values.ts';
import { parseQuantity, writeQuantity } from './quantity.ts';
import type { Container, PodSpec, Resources } from '../api/objects.ts';

/** Upper bounds: a pod keeps an init container's requests for its whole life (docs/contributing/adr/0031). */
export const largestRequests = { cpu: '100m', memory: '64Mi', 'ephemeral-storage': '64Mi' } as const;

type Resource = keyof typeof largestRequests;

interface Pair {
  readonly request?: string | undefined;
  readonly limit?: string | undefined;
}

/**
 * Returns the resources of the init container. For each resource it takes request and limit of the app container that
 * requests most. It scales both down to the largest request. Therefore:
 * - The pod's effective request, the larger of init and app containers, stays the same.
 * - The quality-of-service class stays the same: init containers count, and limits equal to requests stay equal.
 * - Quotas accept the pod. So do limit ranges, also with a largest ratio, but not with a `min` above the largest request.
 */
export function initResources(spec: PodSpec): Resources {
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const resource of Object.keys(largestRequests) as Resource[]) {
    const { request, limit } = scaledDown(largestPair(spec, resource), resource);
    if (request !== undefined) requests[resource] = request;
    if (limit !== undefined) limits[resource] = limit;
  }
  return withoutEmpty({ limits, requests }, ['limits', 'requests']);
}

function scaledDown({ request, limit }: Pair, resource: Resource): Pair {
  const largest = largestRequests[resource];
  const requested = parseQuantity(request) ?? 0;
  const most = parseQuantity(largest) as number;
  if (requested <= most) return { request, limit };
  const allowed = parseQuantity(limit);
  if (allowed === undefined || allowed === requested) return { request: largest, limit: limit && largest };
  const scaled = (allowed / requested) * most;
  return { request: largest, limit: writeQuantity(scaled, resource === 'cpu' ? 'cores' : 'bytes') };
}

export function largestPair({ containers }: PodSpec, resource: Resource): Pair {
  const pairs = containers.map(({ resources }) => getPair(resources, resource));
  const amounts = pairs.map(({ request }) => parseQuantity(request) ?? -Infinity);
  return pairs[amounts.indexOf(Math.max(0, ...amounts))] ?? {};
}

/** The API server copies a limit into a missing request. A Rollout may have empty amounts. */
const getPair = (own: Container['resources'], resource: Resource): Pair => ({
  request: own?.requests?.[resource] ?? own?.limits?.[resource],
  limit: own?.limits?.[resource] ?? undefined,
});
