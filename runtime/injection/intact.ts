import { annotations, injector, instrumentedPrefix } from '../contract.ts';
import { inject } from './inject.ts';
import { includes } from './joined-list.ts';
import { labelValue, ourLabel } from './label.ts';
import { covers, equal, lastNamed } from './lists.ts';
import { formatOf, namesOfLater, readRecord } from './record.ts';
import { isInjected } from './remove.ts';
import type { Container, InjectionSettings, PodTemplate, TracingSettings } from './types.ts';
import { currentFormat, variables, variablesOf, type InjectedVariable, type Recorded } from './variables.ts';

type Found = TracingSettings & Partial<Recorded>;

/**
 * What an injection makes the programs do: from its record, or, where the original operator made it and left none, from
 * the variables that it wrote. Undefined where there is no injection.
 */
export function recordedTracing(template: PodTemplate): TracingSettings | undefined {
  const found = foundSettings(template);
  if (found === undefined) return undefined;
  const { secretName, secretKey, traces, logs } = found;
  return { secretName, secretKey, traces, logs };
}

/** The telemetry proxy to which an injection makes the programs send; undefined where that cannot be told. */
export const recordedEndpoint = (template: PodTemplate): string | undefined => foundSettings(template)?.endpoint;

const foundSettings = (template: PodTemplate): Found | undefined =>
  readRecord(template) ?? (isInjected(template) ? readVariables(template.spec.containers) : undefined);

/** Of the first container whose token comes from a Secret. */
function readVariables(containers: readonly Container[]): Found | undefined {
  for (const { env } of containers) {
    const read = variables.map((row) => ('read' in row ? row.read?.(lastNamed(env, row.name)) : undefined));
    const {
      secretName,
      secretKey,
      traces = true,
      logs = false,
      ...more
    }: Partial<Recorded> = Object.assign({}, ...read);
    if (secretName !== undefined && secretKey !== undefined) return { secretName, secretKey, traces, logs, ...more };
  }
  return undefined;
}

/**
 * Whether an injection is there and whole: everything that the version which wrote it would write, with the settings it
 * was written with, is there. What others have added to it since, and what the API server fills in, does not count
 * against it. One of the original operator, of which nothing is known, is taken for whole.
 */
export function isIntact(template: PodTemplate, current: InjectionSettings): boolean {
  const record = readRecord(template);
  const label = ourLabel(template.metadata);
  if (!isInjected(template) || label === undefined) return false;
  if (record === undefined) return true;
  const { secretName, secretKey, traces, logs, endpoint } = record;
  const settings = {
    ...current,
    ...{ secretName, secretKey, traces, logs, endpoint },
    version: label.slice(instrumentedPrefix.length),
    imagePullSecrets: record.pullSecrets ?? [],
  };
  const again = inject(template, settings, formatOf(record));
  if (again.refused !== undefined || !hasInjector(template, again.template)) return false;
  const later = namesOfLater(record);
  const rows = variablesOf(formatOf(record)).filter(({ name }) => !later.has(name));
  const { containers } = template.spec;
  return again.template.spec.containers.every((wanted, index) => isWhole(containers[index], wanted, rows));
}

const ownContainer = ({ spec }: PodTemplate): Container | undefined =>
  spec.initContainers?.find(({ name }) => name === injector.container);

/** Whether the init container copies into the volume. All else about the two follows the pod and the version at that time. */
function hasInjector(there: PodTemplate, wanted: PodTemplate): boolean {
  const { name = '', env, volumeMounts } = ownContainer(wanted) ?? {};
  return (
    covers(ownContainer(there), { name, env, volumeMounts }) &&
    there.spec.volumes?.some((volume) => volume.name === injector.volume) === true &&
    includes(there.metadata?.annotations?.[annotations.safeToEvict], injector.volume)
  );
}

/** Whether a container has the mount and the variables that it is to have. */
function isWhole(actual: Container | undefined, wanted: Container, rows: readonly InjectedVariable[]): boolean {
  const mounts = wanted.volumeMounts?.filter(({ name }) => name === injector.volume) ?? [];
  if (mounts.length === 0) return true;
  return covers(actual?.volumeMounts ?? [], mounts) && rows.every((row) => isThere(row, actual, wanted));
}

function isThere(row: InjectedVariable, actual: Container | undefined, wanted: Container): boolean {
  const there = lastNamed(actual?.env, row.name);
  return 'joined' in row ? includes(there?.value, row.joined) : equal(there, lastNamed(wanted.env, row.name));
}

/** Whether an injection was written by this version with these settings; what a renewal would change otherwise. */
export function isCurrent(template: PodTemplate, settings: InjectionSettings): boolean {
  const record = readRecord(template);
  return (
    ourLabel(template.metadata) === labelValue(settings.version) &&
    formatOf(record) === currentFormat &&
    ownContainer(template)?.['image'] === settings.image &&
    record?.endpoint === settings.endpoint
  );
}
