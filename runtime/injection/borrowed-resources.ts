import { withoutEmpty } from './lists.ts';
import type { Container, PodSpec, Resources } from './types.ts';

const resources = ['cpu', 'memory', 'ephemeral-storage'] as const;
const nobody: Container = { name: '' };

/**
 * Resources for the init container that change nothing about the pod: for each resource the request and limit of the
 * one app container that asks for most of it. The quality-of-service class stays (init containers count: all of a
 * Guaranteed pod's must have limits equal to requests, none of a BestEffort pod's may ask for anything), quotas and limit
 * ranges that the pod passes are passed, and the pod's effective request, the larger of init and app containers, does not grow.
 */
export function borrowedResources(spec: PodSpec): Resources {
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const resource of resources) {
    const { request, limit } = borrowed(spec, resource);
    if (request !== undefined) requests[resource] = request;
    if (limit !== undefined) limits[resource] = limit;
  }
  return withoutEmpty({ limits, requests }, ['limits', 'requests']);
}

/** The request and the limit of the container that asks for most of a resource. */
export function borrowed({ containers }: PodSpec, resource: (typeof resources)[number]) {
  // The API server takes a limit without a request for both; written out, so that what it stores is what was meant.
  const asked = ({ resources: own }: Container) => own?.requests?.[resource] ?? own?.limits?.[resource];
  let [most, largest] = [nobody, -1];
  for (const container of containers) {
    const amount = parseQuantity(asked(container)) ?? -1;
    if (amount > largest) [most, largest] = [container, amount];
  }
  return { request: asked(most), limit: most.resources?.limits?.[resource] };
}

const factors: ReadonlyMap<string, number> = new Map([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, 1000 ** (index - 3)] as const),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => [suffix, 1024 ** (index + 1)] as const),
]);

/** A Kubernetes quantity as a number; undefined for what is none. Exact enough to tell which of two is larger. */
export function parseQuantity(quantity: string | number | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const [, digits = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(quantity)) ?? [];
  const factor = factors.get(suffix);
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}
