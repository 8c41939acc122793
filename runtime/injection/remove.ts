import { annotations, environment, injector, instrumentedPrefix, labels } from '../contract.ts';
import { injectorMount, tracerVariableNames, tracerVariables } from './environment.ts';
import { join, part } from './joined-list.ts';
import { covers, lastNamed, withoutEmpty } from './lists.ts';
import { readRecord, type InjectionRecord, type Kept } from './record.ts';
import type { Container, EnvVar, PodSpec, PodTemplate, VolumeMount } from './types.ts';

/** Whether a pod template carries an injection of this operator, or of the original one, which left no record. */
export function isInjected(template: PodTemplate): boolean {
  if (readRecord(template) !== undefined) return true;
  const { volumes = [], initContainers = [] } = template.spec;
  // Two of a kind are no coincidence, even where somebody has taken the label off.
  return (
    volumes.some(({ name, emptyDir }) => name === injector.volume && emptyDir !== undefined) &&
    initContainers.some(
      ({ name, env }) => name === injector.container && lastNamed(env, injector.targetVariable) !== undefined,
    )
  );
}

/**
 * Takes out of a pod template what `inject` put in, and brings back what gave way. What the user has changed since stays
 * as the user has it. A template without an injection comes back as it is.
 */
export function remove(template: PodTemplate): PodTemplate {
  if (!isInjected(template)) return template;
  const record = readRecord(template);
  const metadata = removeFromMetadata(template, record);
  const result = { ...template, metadata, spec: removeFromSpec(template.spec, record) };
  return (record?.emptyMetadata === true ? result : withoutEmpty(result, ['metadata'])) as PodTemplate;
}

function removeFromMetadata({ metadata = {} }: PodTemplate, record: InjectionRecord | undefined) {
  const ownLabels: Record<string, string> = { ...metadata.labels };
  if (ownLabels[labels.autoTrace]?.startsWith(instrumentedPrefix) === true) {
    if (record?.label === undefined) delete ownLabels[labels.autoTrace];
    else ownLabels[labels.autoTrace] = record.label;
  }
  const ownAnnotations: Record<string, string> = { ...metadata.annotations };
  delete ownAnnotations[annotations.injection];
  const safe = ownAnnotations[annotations.safeToEvict];
  // The original operator did not touch this annotation: without a record it is the user's.
  if (safe !== undefined && record !== undefined) {
    const restored = separate(safe, record.safeToEvict, injector.volume);
    if (restored === undefined) delete ownAnnotations[annotations.safeToEvict];
    else ownAnnotations[annotations.safeToEvict] = restored;
  }
  return withoutEmpty({ ...metadata, labels: ownLabels, annotations: ownAnnotations }, ['labels', 'annotations']);
}

/** The user's own text where it is as it was joined, else what is there without our entry. */
function separate(text: string, own: string | undefined, entry: string): string | undefined {
  return text === join(own, entry, ',') ? own : part(text, entry);
}

function removeFromSpec(spec: PodSpec, record: InjectionRecord | undefined): PodSpec {
  const added = new Set(record?.pullSecrets);
  const result = {
    ...spec,
    containers: spec.containers.map((container) => removeFromContainer(container, record)),
    initContainers: spec.initContainers?.filter(({ name }) => name !== injector.container).map(withoutOurVolume),
    volumes: spec.volumes?.filter(({ name }) => name !== injector.volume),
    imagePullSecrets: spec.imagePullSecrets?.filter(({ name = '' }) => !added.has(name)),
  };
  return withoutEmpty(result, ['initContainers', 'volumes', 'imagePullSecrets']) as PodSpec;
}

/** Somebody may have mounted our volume where we did not; it goes, and a mount without its volume is refused. */
function withoutOurVolume(container: Container): Container {
  if (container.volumeMounts?.some(({ name }) => name === injector.volume) !== true) return container;
  const volumeMounts = removeMount(container.volumeMounts, undefined);
  return withoutEmpty({ ...container, volumeMounts }, ['volumeMounts']) as Container;
}

function removeFromContainer(container: Container, record: InjectionRecord | undefined): Container {
  if (record?.leftAlone?.includes(container.name) === true) return withoutOurVolume(container);
  const kept = record?.kept?.[container.name] ?? {};
  const result = {
    ...container,
    env: removeFromEnv(container, kept, record),
    volumeMounts: removeMount(container.volumeMounts, kept.mount),
  };
  return withoutEmpty(result, ['env', 'volumeMounts']) as Container;
}

function removeFromEnv(
  { env, name }: Container,
  kept: Kept,
  record: InjectionRecord | undefined,
): readonly EnvVar[] | undefined {
  if (env === undefined) return undefined;
  const written = new Map(record === undefined ? [] : tracerVariables(record, name).map((each) => [each.name, each]));
  return env.flatMap((variable, index) => {
    const isLast = env.findLastIndex((other) => other.name === variable.name) === index;
    if (!isLast) return [variable];
    const own = lastNamed(kept.env, variable.name);
    if (variable.name === environment.preload) return preloadWithout(variable, own);
    if (!tracerVariableNames.has(variable.name)) return [variable];
    const ours = written.get(variable.name);
    // Another value than the one written: the user's, set since. The original operator left no record, so there all are ours.
    if (record !== undefined && (ours === undefined || !covers(variable, ours))) return [variable];
    return own === undefined ? [] : [own];
  });
}

function preloadWithout(variable: EnvVar, own: EnvVar | undefined): EnvVar[] {
  const { value } = variable;
  if (value === undefined) return [variable];
  if (own !== undefined && value === join(own.value, injector.preload, ':')) return [own];
  const rest = part(value, injector.preload);
  return rest === undefined ? [] : [{ ...variable, value: rest }];
}

function removeMount(mounts: readonly VolumeMount[] | undefined, own: VolumeMount | undefined) {
  return mounts?.flatMap((mount) => {
    if (mount.name !== injectorMount.name) return [mount];
    return mount.mountPath === injector.mountPath && own !== undefined ? [own] : [];
  });
}
