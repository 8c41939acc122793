import { annotations } from '../contract.ts';
import type { Metadata, PodSpec } from '../api/objects.ts';
import type { ContainerChoice } from './types.ts';

/** Containers of service meshes and secret agents, which run no program to trace. */
export const knownSidecars = [
  'istio-proxy',
  'linkerd-proxy',
  'consul-dataplane',
  'envoy-sidecar',
  'kuma-sidecar',
  'vault-agent',
  'cloud-sql-proxy',
  'daprd',
] as const;

/** Returns a set, because a client can send thousands of names and of containers. */
function namesIn(text: string | undefined): ReadonlySet<string> | undefined {
  const names = text?.split(',').map((name) => name.trim());
  const given = new Set(names?.filter((name) => name !== ''));
  return given.size === 0 ? undefined : given;
}

/** Returns the choice in the annotations. Each annotation of the pod template wins over the workload's own. */
export function choiceIn(template: Metadata | undefined, workload: ContainerChoice | undefined): ContainerChoice {
  const own = getChoice(template);
  return { include: own.include ?? workload?.include, exclude: own.exclude ?? workload?.exclude };
}

export const getChoice = (metadata: Metadata | undefined): ContainerChoice => ({
  include: namesIn(metadata?.annotations?.[annotations.injectContainers]),
  exclude: namesIn(metadata?.annotations?.[annotations.excludeContainers]),
});

/** Init containers and native sidecars are injected only by name, because the injector then has to start before them. */
export const getNamedInits = ({ initContainers = [] }: PodSpec, { include, exclude }: ContainerChoice) =>
  initContainers.filter(({ name }) => include?.has(name) === true && exclude?.has(name) !== true);

export function whyNotChosen(name: string, { include, exclude }: ContainerChoice, sidecars?: ReadonlySet<string>) {
  if (exclude?.has(name) === true) return `the annotation ${annotations.excludeContainers} excludes it`;
  if (include !== undefined)
    return include.has(name) ? undefined : `the annotation ${annotations.injectContainers} does not include it`;
  return sidecars?.has(name) === true ? 'it is a known sidecar (the setting injection.sidecars)' : undefined;
}
