import type { Container, PodSpec } from '../../../runtime/injection/types.ts';
import { amountsOf } from './pod-rules.ts';

/**
 * Returns a pod as a VerticalPodAutoscaler admits it: the requests of the app containers times a factor, but at least `least`.
 * The limits keep their ratio to the requests. Init containers are not changed.
 */
export function lowered(spec: PodSpec, factor: number, least: Readonly<Record<string, number>>): PodSpec {
  const lower = (container: Container): Container => {
    const { resources = {} } = container;
    const scaled = (list: 'requests' | 'limits') =>
      Object.fromEntries(
        Object.entries(resources[list] ?? {}).map(([resource, quantity]) => {
          const { request = 0, limit = 0 } = amountsOf(container, resource);
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
