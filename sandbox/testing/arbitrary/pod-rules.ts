import { parseQuantity } from '../../../runtime/injection/quantity.ts';
import type { Container, PodSpec, Resources } from '../../../runtime/api/objects.ts';

/** Kubernetes' rules on pods, implemented again from its documentation, so that tests judge independently. */

const all = ({ containers, initContainers = [] }: PodSpec): readonly Container[] => [...containers, ...initContainers];
const computed = ['cpu', 'memory'] as const;

/** Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/ (init containers count). */
export function qosClass(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const askers: readonly (Resources | undefined)[] =
    spec.resources === undefined ? all(spec).map(({ resources }) => resources) : [spec.resources];
  const asks = (resources: Resources | undefined, resource: string) =>
    resources?.requests?.[resource] !== undefined || resources?.limits?.[resource] !== undefined;
  if (!askers.some((resources) => computed.some((resource) => asks(resources, resource)))) return 'BestEffort';
  const isGuaranteed = askers.every((resources) =>
    computed.every((resource) => {
      const limit = resources?.limits?.[resource];
      return limit !== undefined && parseQuantity(resources?.requests?.[resource] ?? limit) === parseQuantity(limit);
    }),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** Returns a container's request and limit as numbers. A limit alone is a request as well. */
export function getAmounts({ resources }: Container, resource: string) {
  const limit = parseQuantity(resources?.limits?.[resource]);
  return { request: parseQuantity(resources?.requests?.[resource]) ?? limit, limit };
}

/**
 * The scheduler counts the larger of the sum of app containers (and sidecars) and the largest init container. A quota counts
 * limits in the same way.
 */
export function effective(spec: PodSpec, resource: string, which: 'request' | 'limit'): number {
  const amount = (container: Container) => getAmounts(container, resource)[which] ?? 0;
  let sidecars = 0;
  let peak = 0;
  for (const container of spec.initContainers ?? [])
    if (container['restartPolicy'] === 'Always') sidecars += amount(container);
    else peak = Math.max(peak, sidecars + amount(container));
  const apps = spec.containers.reduce((sum, container) => sum + amount(container), 0);
  return Math.max(peak, apps + sidecars);
}

/** Returns a pod as a VerticalPodAutoscaler admits it. The limits keep their ratio to the requests, and init containers are not changed. */
export function lowered(spec: PodSpec, factor: number, least: Readonly<Record<string, number>>): PodSpec {
  const lower = (container: Container): Container => {
    const { resources = {} } = container;
    const scaled = (list: 'requests' | 'limits') =>
      Object.fromEntries(
        Object.entries(resources[list] ?? {}).map(([resource, quantity]) => {
          const { request = 0, limit = 0 } = getAmounts(container, resource);
          const floor = least[resource];
          if (floor === undefined || request <= floor) return [resource, quantity];
          const target = Math.max(floor, request * factor);
          return [resource, String(list === 'requests' ? target : target * (limit / request))];
        }),
      );
    return { ...container, resources: { ...resources, requests: scaled('requests'), limits: scaled('limits') } };
  };
  return { ...spec, containers: spec.containers.map(lower) };
}
