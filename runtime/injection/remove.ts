import { annotations, injector, labels } from '../contract.ts';
import { injectorMount } from './init-container.ts';
import { join, part } from './joined-list.ts';
import { isOurs } from './label.ts';
import { covers, lastNamed, withoutEmpty } from './lists.ts';
import { formatOf, namesOfLater, readRecord, type InjectionRecord, type Kept } from './record.ts';
import type { Container, EnvVar, PodSpec, PodTemplate, VolumeMount } from './types.ts';
import { variablesOf, type InjectedVariable } from './variables.ts';

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
  if (isOurs(ownLabels[labels.autoTrace])) {
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
  const written = writtenBy(record);
  const leftAlone = new Set(record?.leftAlone);
  const result = {
    ...spec,
    containers: spec.containers.map((container) =>
      leftAlone.has(container.name) ? withoutOurVolume(container) : removeFromContainer(container, written),
    ),
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

/** What was written into the containers, as far as it can be told. */
interface Written {
  readonly record: InjectionRecord | undefined;
  readonly rows: ReadonlyMap<string, InjectedVariable>;
  /** Of these variables only the names are known. */
  readonly later: ReadonlySet<string>;
}

function writtenBy(record: InjectionRecord | undefined): Written {
  const later = namesOfLater(record);
  const rows = variablesOf(formatOf(record)).filter(({ name }) => !later.has(name));
  return { record, later, rows: new Map(rows.map((row) => [row.name, row])) };
}

function removeFromContainer(container: Container, written: Written): Container {
  const kept = written.record?.kept?.[container.name] ?? {};
  const result = {
    ...container,
    env: removeFromEnv(container, kept.env, written),
    volumeMounts: removeMount(container.volumeMounts, kept.mount),
  };
  return withoutEmpty(result, ['env', 'volumeMounts']) as Container;
}

function removeFromEnv({ env, name }: Container, kept: Kept['env'], written: Written): readonly EnvVar[] | undefined {
  // Anybody can send lists of thousands: each is gone through once. Of several with one name the last counts.
  const last = new Map(env?.map((variable, index) => [variable.name, index]));
  const own = new Map(kept?.map((variable) => [variable.name, variable]));
  return env?.flatMap((variable, index) =>
    last.get(variable.name) === index ? restored(variable, own.get(variable.name), name, written) : [variable],
  );
}

/** What is to stand in place of a variable: itself where it is the user's, what gave way where it is ours. */
function restored(
  variable: EnvVar,
  own: EnvVar | undefined,
  container: string,
  { record, rows, later }: Written,
): readonly EnvVar[] {
  const row = rows.get(variable.name);
  const ours = own === undefined ? [] : [own];
  if (row === undefined) return later.has(variable.name) ? ours : [variable];
  if ('joined' in row) return parted(variable, own, row.joined);
  // Another value than the one written: the user's, set since. The original operator left no record, so there all are ours.
  return record === undefined || covers(variable, row.write(record, container)) ? ours : [variable];
}

function parted(variable: EnvVar, own: EnvVar | undefined, entry: string): EnvVar[] {
  const { value } = variable;
  if (value === undefined) return [variable];
  if (own !== undefined && value === join(own.value, entry, ':')) return [own];
  const rest = part(value, entry);
  return rest === undefined ? [] : [{ ...variable, value: rest }];
}

function removeMount(mounts: readonly VolumeMount[] | undefined, own: VolumeMount | undefined) {
  return mounts?.flatMap((mount) => {
    if (mount.name !== injectorMount.name) return [mount];
    return mount.mountPath === injector.mountPath && own !== undefined ? [own] : [];
  });
}
