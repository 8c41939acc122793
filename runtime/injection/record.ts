import { annotations } from '../contract.ts';
import { isLabelValue } from './label.ts';
import { type Check, flag, form, listOf, mapOf, text } from '../json/form.ts';
import { withoutEmpty } from '../json/values.ts';
import { isOurMountPath } from './refusal.ts';
import type { EnvVar, PodTemplate, VolumeMount } from '../api/objects.ts';
import { currentFormat, variablesOf, type InjectedVariable, type Recorded } from './variables.ts';

export interface Kept {
  readonly env?: readonly EnvVar[];
  readonly mount?: VolumeMount;
}

/** The annotation for `remove`. It has no version and no time, because a change of it would roll out the workload. */
export interface InjectionRecord extends Recorded {
  readonly format?: number;
  /** Names of variables of later formats. An older version of the operator removes them by name. */
  readonly variables?: readonly string[];
  readonly pullSecrets?: readonly string[];
  readonly kept?: Readonly<Record<string, Kept>>;
  readonly label?: string;
  readonly safeToEvict?: string;
  readonly leftAlone?: readonly string[];
  /** The pod template had empty metadata, as the API server shows it since Kubernetes 1.34. */
  readonly emptyMetadata?: boolean;
}

const FIRST_FORMAT = 1;

export const formatOf = (record: InjectionRecord | undefined): number => record?.format ?? FIRST_FORMAT;

/** Returns the variables that an injection wrote; undefined rows for those of a later version, before a rollback. */
export function writtenVariables(
  record: InjectionRecord | undefined,
): ReadonlyMap<string, InjectedVariable | undefined> {
  const format = formatOf(record);
  const rows = new Map<string, InjectedVariable | undefined>(variablesOf(format).map((row) => [row.name, row]));
  if (format > currentFormat) for (const name of record?.variables ?? []) rows.set(name, undefined);
  return rows;
}

type Findings = {
  readonly [K in Exclude<keyof InjectionRecord, keyof Recorded | 'format' | 'variables'>]:
    InjectionRecord[K] | undefined;
};

export function writeRecord(recorded: Recorded, format: number, found: Findings): string {
  const { endpoint, secretName, secretKey, traces, logs } = recorded;
  const added = variablesOf(format).filter(({ since }) => since > FIRST_FORMAT);
  const record = {
    ...{ endpoint, secretName, secretKey, traces, logs, ...found },
    format: format === FIRST_FORMAT ? undefined : format,
    variables: added.map(({ name }) => name),
  };
  return JSON.stringify(withoutEmpty(record, Object.keys(record) as (keyof typeof record)[]));
}

/** Characters. A tenant can write a longer one. Reading one of this length takes 1 ms. */
export const LONGEST_RECORD = 64 * 1024;

const known = new WeakMap<PodTemplate, InjectionRecord | undefined>();

/** Returns the record on a pod template; undefined if this operator could not have written it. */
export function readRecord(template: PodTemplate): InjectionRecord | undefined {
  // A cache, because templates never change and one decision reads the record many times.
  if (!known.has(template)) known.set(template, parseRecord(template.metadata?.annotations?.[annotations.injection]));
  return known.get(template);
}

function parseRecord(annotation: string | undefined): InjectionRecord | undefined {
  if (typeof annotation !== 'string' || annotation.length > LONGEST_RECORD) return undefined;
  try {
    const record: unknown = JSON.parse(annotation);
    return isRecord(record) ? (record as InjectionRecord) : undefined;
  } catch {
    return undefined;
  }
}

const variable = form({ name: text }, { value: text, valueFrom: form({}) });
const isMount = form({ name: text, mountPath: text });
const ourMount: Check = (value) => isMount(value) && isOurMountPath(value as VolumeMount);

const required = { endpoint: text, secretName: text, secretKey: text, traces: flag, logs: flag } satisfies Record<
  keyof Recorded,
  Check
>;
const optional = {
  format: Number.isInteger,
  variables: listOf(text),
  pullSecrets: listOf(text),
  kept: mapOf(form({}, { env: listOf(variable), mount: ourMount })),
  label: isLabelValue,
  safeToEvict: text,
  leftAlone: listOf(text),
  emptyMetadata: flag,
} satisfies Record<Exclude<keyof InjectionRecord, keyof Recorded>, Check>;

/** Checks everything that `remove` uses, because a tenant can write the annotation. */
const isRecord = form(required, optional);
