import { withoutEmpty } from './lists.ts';
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

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity as a number; undefined for what is none. Exact enough to tell which of two is larger. */
export function parseQuantity(quantity: string | number | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const [, digits = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(quantity)) ?? [];
  const factor = suffixes[suffix];
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}
