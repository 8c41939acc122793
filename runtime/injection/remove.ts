import { annotations, injector, labels } from '../contract.ts';
import { join, part } from './joined-list.ts';
import { labelBefore } from './label.ts';
import { covers, lastNamed, withEntry, withoutEmpty } from '../json/values.ts';
import { readRecord, writtenVariables, type InjectionRecord } from './record.ts';
import { unstamp } from './stamp.ts';
import type { Container, EnvVar, PodSpec, PodTemplate, VolumeMount, Workload } from '../api/objects.ts';
import type { InjectedVariable } from './variables.ts';
import { templateOf, withTemplate } from './workload.ts';

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

/** The workload as it was before this operator touched it. */
export function uninstrument(workload: Workload): Workload {
  const template = templateOf(workload);
  const metadata = unstamp(workload.metadata);
  const clean = template === undefined ? workload : withTemplate(workload, remove(template));
  return { ...clean, metadata };
}

function removeFromMetadata({ metadata = {} }: PodTemplate, record: InjectionRecord | undefined) {
  const { [annotations.safeToEvict]: safe, [annotations.injection]: _record, ...rest } = metadata.annotations ?? {};
  // The original operator did not touch this annotation: without a record it is the user's.
  const ownSafe = safe === undefined || record === undefined ? safe : separate(safe, record.safeToEvict);
  const result = {
    ...metadata,
    labels: withEntry(metadata.labels, labels.autoTrace, labelBefore(metadata, record?.label)),
    annotations: withEntry(rest, annotations.safeToEvict, ownSafe),
  };
  return withoutEmpty(result, ['labels', 'annotations']);
}

/** The user's own text where it is as it was joined, else what is there without our entry. */
const separate = (text: string, own: string | undefined): string | undefined =>
  text === join(own, injector.volume, ',') ? own : part(text, injector.volume);

function removeFromSpec(spec: PodSpec, record: InjectionRecord | undefined): PodSpec {
  const added = new Set(record?.pullSecrets);
  const leftAlone = new Set(record?.leftAlone);
  const written = writtenVariables(record);
  const volumes = new Set(spec.volumes?.map(({ name }) => name));
  const result = {
    ...spec,
    containers: spec.containers.map((container) =>
      leftAlone.has(container.name) ? removeMount(container) : removeFromContainer(container, written, record, volumes),
    ),
    // Somebody may have mounted our volume where we did not; it goes, and a mount without its volume is refused.
    initContainers: spec.initContainers
      ?.filter(({ name }) => name !== injector.container)
      .map((container) => removeMount(container)),
    volumes: spec.volumes?.filter(({ name }) => name !== injector.volume),
    imagePullSecrets: spec.imagePullSecrets?.filter(({ name = '' }) => !added.has(name)),
  };
  return withoutEmpty(result, ['initContainers', 'volumes', 'imagePullSecrets']) as PodSpec;
}

function removeMount(container: Container, own?: VolumeMount): Container {
  if (container.volumeMounts?.some(({ name }) => name === injector.volume) !== true) return container;
  const volumeMounts = container.volumeMounts.flatMap((mount) => {
    if (mount.name !== injector.volume) return [mount];
    return mount.mountPath === injector.mountPath && own !== undefined ? [own] : [];
  });
  return withoutEmpty({ ...container, volumeMounts }, ['volumeMounts']);
}

function removeFromContainer(
  container: Container,
  written: ReadonlyMap<string, InjectedVariable | undefined>,
  record: InjectionRecord | undefined,
  volumes: ReadonlySet<string>,
): Container {
  const { env, name } = container;
  const kept = record?.kept?.[name];
  // Anybody can send lists of thousands: each is gone through once. Of several with one name the last counts.
  const last = new Map(env?.map((variable, index) => [variable.name, index]));
  const own = new Map(kept?.env?.map((variable) => [variable.name, variable]));
  /** What is to stand in place of a variable: itself where it is the user's, what gave way where it is ours. */
  const restored = (variable: EnvVar): EnvVar | undefined => {
    const row = written.get(variable.name);
    const before = own.get(variable.name);
    if (row === undefined) return written.has(variable.name) ? before : variable;
    if ('joined' in row) return parted(variable, before, row.joined);
    // Another value than the one written: the user's, set since. The original operator left no record, so there all are ours.
    return record === undefined || covers(variable, row.write(record, name)) ? before : variable;
  };
  const left = env?.flatMap((variable, index) =>
    last.get(variable.name) === index ? (restored(variable) ?? []) : variable,
  );
  // A mount whose volume has gone since would be refused, and the removal with it.
  const mount = kept?.mount !== undefined && volumes.has(kept.mount.name) ? kept.mount : undefined;
  return withoutEmpty({ ...removeMount(container, mount), env: left }, ['env']) as Container;
}

function parted(variable: EnvVar, own: EnvVar | undefined, entry: string): EnvVar | undefined {
  const { value } = variable;
  if (value === undefined) return variable;
  if (own !== undefined && value === join(own.value, entry, ':')) return own;
  const rest = part(value, entry);
  return rest === undefined ? undefined : { ...variable, value: rest };
}
