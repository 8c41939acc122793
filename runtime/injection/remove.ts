import { annotations, injector, labels } from '../contract.ts';
import { join, part } from './joined-list.ts';
import { labelBefore, withEntry } from './label.ts';
import { injectorMount } from './init-container.ts';
import { covers, equal, withoutEmpty } from '../json/values.ts';
import { getOriginalState, writtenVariables, type OriginalState } from './original-state.ts';
import { isOurMountPath } from './refusal.ts';
import { removeInjectionStatus } from './injection-status.ts';
import type { Container, EnvVar, PodSpec, PodTemplate, VolumeMount, Workload } from '../api/objects.ts';
import type { InjectedVariable } from './variables.ts';
import { withoutWritten } from './three-way-merge.ts';
import { findTemplate, toTemplate, withTemplate } from './workload.ts';

/** Returns whether a pod template has an injection of this operator or of the original one, which left no record. */
export function isInjected(template: PodTemplate): boolean {
  if (getOriginalState(template) !== undefined) return true;
  const { volumes = [], initContainers = [] } = template.spec;
  // The pair identifies an injection even if a user has removed the label.
  return (
    volumes.some(({ name, emptyDir }) => name === injector.volume && emptyDir !== undefined) &&
    initContainers.some(
      ({ name, env }) => name === injector.container && env?.some((each) => each.name === injector.targetVariable),
    )
  );
}

export function hasInjection(workload: Workload): boolean {
  const template = toTemplate(workload);
  return template !== undefined && isInjected(template);
}

/** Returns whether a malformed pod template has an injection, which stays until the template is corrected. */
export function isUnremovable(workload: Workload): boolean {
  const template = findTemplate(workload);
  return template !== undefined && template !== toTemplate(workload) && getOriginalState(template) !== undefined;
}

/** Returns a pod template without its injection and with the replaced values. It keeps later changes by the user. */
export function remove(template: PodTemplate): PodTemplate {
  if (!isInjected(template)) return template;
  const originalState = getOriginalState(template);
  const metadata = removeFromMetadata(template, originalState);
  const result = { ...template, metadata, spec: removeFromSpec(template.spec, originalState) };
  return (originalState?.emptyMetadata === true ? result : withoutEmpty(result, ['metadata'])) as PodTemplate;
}

export function uninstrument(workload: Workload): Workload {
  const template = toTemplate(workload);
  const metadata = removeInjectionStatus(workload.metadata);
  const clean = template === undefined ? workload : withTemplate(workload, remove(template));
  return { ...clean, metadata };
}

function removeFromMetadata({ metadata = {} }: PodTemplate, originalState: OriginalState | undefined) {
  const { [annotations.safeToEvict]: safe, [annotations.injection]: _record, ...rest } = metadata.annotations ?? {};
  // The original operator did not touch this annotation. Without a record it is the user's.
  const ownSafe = safe === undefined || originalState === undefined ? safe : separate(safe, originalState.safeToEvict);
  const result = {
    ...metadata,
    labels: withEntry(metadata.labels, labels.autoTrace, labelBefore(metadata, originalState?.label)),
    annotations: withEntry(rest, annotations.safeToEvict, ownSafe),
  };
  return withoutEmpty(result, ['labels', 'annotations']);
}

const separate = (text: string, own: string | undefined): string | undefined =>
  text === join(own, injector.volume, ',') ? own : part(text, injector.volume);

function removeFromSpec(spec: PodSpec, originalState: OriginalState | undefined): PodSpec {
  const added = new Set(originalState?.pullSecrets);
  const skipped = new Set(originalState?.skipped);
  const injectedInits = new Set(originalState?.initContainers);
  const written = writtenVariables(originalState);
  const volumes = new Set(spec.volumes?.map(({ name }) => name));
  // A user may have mounted the injector's volume elsewhere. The API server refuses a mount without its volume.
  const clean = (container: Container, isInjectedOne: boolean): Container =>
    isInjectedOne ? removeFromContainer(container, written, originalState, volumes) : removeMount(container);
  const result = {
    ...spec,
    containers: spec.containers.map((container) => clean(container, !skipped.has(container.name))),
    initContainers: spec.initContainers
      ?.filter(({ name }) => name !== injector.container)
      .map((container) => clean(container, injectedInits.has(container.name))),
    volumes: spec.volumes?.filter(({ name }) => name !== injector.volume),
    imagePullSecrets: spec.imagePullSecrets?.filter(({ name = '' }) => !added.has(name)),
  };
  return withoutEmpty(result, ['initContainers', 'volumes', 'imagePullSecrets']) as PodSpec;
}

function removeMount(container: Container, own?: VolumeMount): Container {
  const { volumeMounts: mounts = [] } = container;
  const isOurs = ({ name }: VolumeMount): boolean => name === injector.volume;
  const users = mounts.find((mount) => !isOurs(mount) && isOurMountPath(mount));
  if (users === undefined && !mounts.some(isOurs)) return container;
  // A three-way merge writes the user's mount over the injector's, or adds it again if its path has a slash at the end.
  // Compares the keys first, because a forged record of thousands would be copied for each of hundreds of containers.
  const isOwn = own !== undefined && covers(users, own) && equal(users, { ...injectorMount, ...own });
  const left = users === undefined || isOwn ? own : users;
  const volumeMounts = mounts.flatMap((mount) => {
    if (mount === users) return left ?? [];
    if (!isOurs(mount)) return mount;
    return users === undefined && mount.mountPath === injector.mountPath ? (left ?? []) : [];
  });
  return withoutEmpty({ ...container, volumeMounts }, ['volumeMounts']);
}

function removeFromContainer(
  container: Container,
  written: ReadonlyMap<string, InjectedVariable | undefined>,
  originalState: OriginalState | undefined,
  volumes: ReadonlySet<string>,
): Container {
  const { env, name } = container;
  const kept = originalState?.kept?.[name];
  // One pass, because a client can send lists of thousands. Kubernetes uses the last variable with a name.
  const last = new Map(env?.map((variable, index) => [variable.name, index]));
  const own = new Map(kept?.env?.map((variable) => [variable.name, variable]));
  const restored = (variable: EnvVar): EnvVar | undefined => {
    const row = written.get(variable.name);
    const before = own.get(variable.name);
    if (row === undefined) return written.has(variable.name) ? before : variable;
    if ('joined' in row) return parted(variable, before, row.joined);
    // The original operator left no record, so all are removed.
    return originalState && withoutWritten(variable, row.write(originalState, name), before);
  };
  const left = env?.flatMap((variable, index) =>
    last.get(variable.name) === index ? (restored(variable) ?? []) : variable,
  );
  // The API server refuses a mount whose volume no longer exists.
  const mount = kept?.mount !== undefined && volumes.has(kept.mount.name) ? kept.mount : undefined;
  return withoutEmpty({ ...removeMount(container, mount), env: left }, ['env']) as Container;
}

function parted(variable: EnvVar, own: EnvVar | undefined, entry: string): EnvVar | undefined {
  const { value, ...rest } = variable;
  if (value === undefined || variable.valueFrom !== undefined) return rest;
  if (own !== undefined && [own.value, join(own.value, entry, ':')].includes(value)) return own;
  const others = part(value, entry);
  return others === undefined ? undefined : { ...variable, value: others };
}
