import { annotations, environment, injector, labels } from '../contract.ts';
import { tracerVariableNames, tracerVariables } from './environment.ts';
import { part, preloads, safeVolumes, separate } from './joined-list.ts';
import { covers, lastNamed, member, withoutEmpty } from './lists.ts';
import { isAtInjector } from './mounts.ts';
import { injectedLabel, isInjected } from './recognise.ts';
import { readRecord, type InjectionRecord, type Kept } from './record.ts';
import type { Container, EnvVar, Metadata, PodSpec, PodTemplate, VolumeMount } from './types.ts';

/**
 * Takes out of a pod template what `inject` put in, and brings back what gave way. What the user has changed since stays
 * as the user has it. A template without an injection comes back as it is.
 */
export function remove(template: PodTemplate): PodTemplate {
  if (!isInjected(template)) return template;
  const record = readRecord(template);
  const metadata = removeFromMetadata(template, record);
  const result = { ...template, metadata, spec: removeFromSpec(template.spec, record) };
  // The API server always shows a template's metadata, if only as {}; a template that has none is one it has not seen yet.
  return record?.bare === true ? (withoutEmpty(result, ['metadata']) as PodTemplate) : result;
}

function removeFromMetadata(template: PodTemplate, record: InjectionRecord | undefined): Metadata {
  const { metadata = {} } = template;
  const ownLabels: Record<string, string> = { ...metadata.labels };
  if (injectedLabel(template) !== undefined) {
    if (record?.label === undefined) delete ownLabels[labels.autoTrace];
    else ownLabels[labels.autoTrace] = record.label;
  }
  const ownAnnotations: Record<string, string> = { ...metadata.annotations };
  const safe = ownAnnotations[annotations.safeToEvict];
  // The original operator did not touch this annotation: where it injected, an entry for the volume is the user's.
  if (safe !== undefined && ownAnnotations[annotations.injection] !== undefined) {
    const restored = separate(safe, record?.safeToEvict, safeVolumes);
    if (restored === undefined) delete ownAnnotations[annotations.safeToEvict];
    else ownAnnotations[annotations.safeToEvict] = restored;
  }
  delete ownAnnotations[annotations.injection];
  return withoutEmpty({ ...metadata, labels: ownLabels, annotations: ownAnnotations }, ['labels', 'annotations']);
}

function removeFromSpec(spec: PodSpec, record: InjectionRecord | undefined): PodSpec {
  const added = new Set(record?.pullSecrets);
  const result = {
    ...spec,
    containers: spec.containers.map((container) => removeFromContainer(container, record)),
    // The volume goes, and so must every mount of it, or the API server refuses what is left: people may have added some.
    initContainers: spec.initContainers
      ?.filter(({ name }) => name !== injector.container)
      .map((container) => withMounts(container, undefined)),
    volumes: spec.volumes?.filter(({ name }) => name !== injector.volume),
    imagePullSecrets: spec.imagePullSecrets?.filter(({ name = '' }) => !added.has(name)),
  };
  return withoutEmpty(result, ['initContainers', 'volumes', 'imagePullSecrets']) as PodSpec;
}

function removeFromContainer(container: Container, record: InjectionRecord | undefined): Container {
  if (record?.leftAlone?.includes(container.name) === true) return withMounts(container, undefined);
  const kept = keptOf(record, container.name);
  const env = removeFromEnv(container, kept, record);
  return withoutEmpty({ ...withMounts(container, kept.mount), env }, ['env']) as Container;
}

const keptOf = (record: InjectionRecord | undefined, container: string): Kept =>
  (member(record?.kept ?? {}, container) as Kept | undefined) ?? {};

function removeFromEnv(
  { env, name: container }: Container,
  kept: Kept,
  record: InjectionRecord | undefined,
): readonly EnvVar[] | undefined {
  const written = record === undefined ? [] : tracerVariables(record, container);
  return env?.flatMap((variable, index) => {
    const { name } = variable;
    const isOurs = name === environment.preload || tracerVariableNames.has(name);
    if (!isOurs || env.findLastIndex((other) => other.name === name) !== index) return [variable];
    const own = lastNamed(kept.env, name);
    if (name === environment.preload) return preloadWithout(variable, own);
    // Another value than the one written is the user's, set since. Without a record (the original operator) all are ours.
    if (record !== undefined && !covers(variable, lastNamed(written, name))) return [variable];
    return own === undefined ? [] : [own];
  });
}

function preloadWithout(variable: EnvVar, own: EnvVar | undefined): EnvVar[] {
  const { value } = variable;
  if (value === undefined) return [variable];
  const rest = own === undefined ? part(value, preloads) : separate(value, own.value ?? '', preloads);
  if (own !== undefined && rest === (own.value ?? '')) return [own];
  return rest === undefined ? [] : [{ ...variable, value: rest }];
}

/** Without the mounts of the injector's volume; the user's own comes back to the place it gave. */
function withMounts(container: Container, own: VolumeMount | undefined): Container {
  if (container.volumeMounts?.some(({ name }) => name === injector.volume) !== true) return container;
  const volumeMounts = container.volumeMounts.flatMap((mount) => {
    if (mount.name !== injector.volume) return [mount];
    return own !== undefined && isAtInjector(mount) ? [own] : [];
  });
  return withoutEmpty({ ...container, volumeMounts }, ['volumeMounts']) as Container;
}
