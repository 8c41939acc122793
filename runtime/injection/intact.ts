import { annotations, environment, injector } from '../contract.ts';
import { tracerVariables } from './environment.ts';
import { labelValue } from './inject.ts';
import { includesEntry, preloads, safeVolumes } from './joined-list.ts';
import { covers, lastNamed } from './lists.ts';
import { injectorMount } from './mounts.ts';
import { injectedLabel, injectorContainer, isInjected } from './recognise.ts';
import { readRecord, type InjectionRecord } from './record.ts';
import { reasonOfStorage, reasonToLeaveAlone } from './refusal.ts';
import type { Container, EnvVar, InjectionSettings, PodSpec, PodTemplate } from './types.ts';

/**
 * Whether an injection is there and whole: everything that makes it work, with the settings it was written with, is in
 * place. What others have added since, what the API server fills in and which version wrote it do not count against it,
 * because mending it restarts pods. (A variable that a later version adds must not be asked for in what this one wrote.)
 */
export function isIntact(template: PodTemplate): boolean {
  if (!isInjected(template) || injectedLabel(template) === undefined) return false;
  const { spec } = template;
  const record = readRecord(template);
  const isCopying = covers(injectorContainer(spec), {
    env: [{ name: injector.targetVariable, value: injector.targetDirectory }],
    volumeMounts: [{ name: injector.volume, mountPath: injector.targetDirectory }],
  });
  const hasVolume = covers(spec.volumes, [{ name: injector.volume, emptyDir: {} }]);
  if (!isCopying || !hasVolume) return false;
  return record === undefined
    ? spec.containers.every((container) => hasInjection(container, tokenAlone))
    : hasAllThatIsRecorded(template, record);
}

/** What the original operator wrote in all its versions. */
const tokenAlone: readonly EnvVar[] = [{ name: environment.token }, { name: environment.endpoint }];

function hasAllThatIsRecorded({ metadata, spec }: PodTemplate, record: InjectionRecord): boolean {
  return (
    includesEntry(metadata?.annotations?.[annotations.safeToEvict], safeVolumes) &&
    covers(spec.imagePullSecrets ?? [], (record.pullSecrets ?? []).map((name) => ({ name }))) &&
    reasonOfStorage(spec) === undefined &&
    spec.containers.every((container) => isAsRecorded(container, spec, record))
  );
}

function isAsRecorded(container: Container, spec: PodSpec, record: InjectionRecord): boolean {
  const wasLeftAlone = record.leftAlone?.includes(container.name) === true;
  if ((reasonToLeaveAlone(container, spec) !== undefined) !== wasLeftAlone) return false;
  return wasLeftAlone || hasInjection(container, tracerVariables(record, container.name));
}

function hasInjection({ env, volumeMounts }: Container, variables: readonly EnvVar[]): boolean {
  return (
    covers(volumeMounts, [injectorMount]) &&
    includesEntry(lastNamed(env, environment.preload)?.value, preloads) &&
    variables.every((variable) => covers(lastNamed(env, variable.name), variable))
  );
}

/** Whether an injection was written by this version with these settings; what a renewal would change otherwise. */
export function isCurrent(template: PodTemplate, { version, image, endpoint }: InjectionSettings): boolean {
  return (
    injectedLabel(template) === labelValue(version) &&
    injectorContainer(template.spec)?.['image'] === image &&
    readRecord(template)?.endpoint === endpoint
  );
}
