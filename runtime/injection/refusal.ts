import { environment, injector } from '../contract.ts';
import { parseQuantity } from './borrowed-resources.ts';
import { lastNamed } from './lists.ts';
import type { Container, PodSpec } from './types.ts';

/** The injector's files and some room: an `ephemeral-storage` limit below this would evict the pod. */
const NEEDED_STORAGE = 250e6;

/** Why a container is left as it is; undefined when it can be injected into. */
export function reasonToLeaveAlone(container: Container): string | undefined {
  if (lastNamed(container.env, environment.preload)?.valueFrom !== undefined)
    return `container '${container.name}' is left alone: its ${environment.preload} comes from elsewhere (valueFrom), and cannot be joined with the injector's`;
  const nested = container.volumeMounts?.find(({ mountPath }) => mountPath.startsWith(`${injector.mountPath}/`));
  if (nested !== undefined)
    return `container '${container.name}' is left alone: its volume '${nested.name}' is mounted at ${nested.mountPath}, below the injector's ${injector.mountPath}`;
  return undefined;
}

/** Why a pod cannot be injected into at all; undefined when it can. Expects a template without an injection of ours. */
export function reasonToRefuse(spec: PodSpec): string | undefined {
  if (spec.volumes?.some(({ name }) => name === injector.volume))
    return `the pod has a volume of its own named '${injector.volume}'`;
  if ([...spec.containers, ...(spec.initContainers ?? [])].some(({ name }) => name === injector.container))
    return `the pod has a container of its own named '${injector.container}'`;
  const reasons = spec.containers.map(reasonToLeaveAlone);
  if (reasons.every((reason) => reason !== undefined)) return reasons.join('; ');
  return reasonOfStorage(spec);
}

function reasonOfStorage({ containers }: PodSpec): string | undefined {
  const limits = containers.map(({ resources }) => parseQuantity(resources?.limits?.['ephemeral-storage']));
  let sum = 0;
  for (const limit of limits) {
    if (limit === undefined) return undefined;
    sum += limit;
  }
  if (sum >= NEEDED_STORAGE) return undefined;
  return `the pod's ephemeral-storage limits (${Math.round(sum / 1e6)}M in all) leave no room for the injector's files; it needs 250M`;
}
