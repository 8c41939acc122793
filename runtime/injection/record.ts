import { annotations } from '../contract.ts';
import { isLabelValue } from './label.ts';
import { type Check, flag, form, listOf, mapOf, text } from '../json/form.ts';
import { withoutEmpty } from '../json/values.ts';
import { isOurMountPath } from './refusal.ts';
import type { EnvVar, PodTemplate, VolumeMount } from '../api/objects.ts';
import { currentFormat, variablesOf, type InjectedVariable, type Recorded } from './variables.ts';

/** What of one container gave way to the injection. */
export interface Kept {
  readonly env?: readonly EnvVar[];
  readonly mount?: VolumeMount;
}

/**
 * What `inject` wrote and what gave way to it, kept on the pod template so that `remove` is its exact inverse. It holds
 * nothing that changes without the injection changing: no version of the operator, no time.
 */
export interface InjectionRecord extends Recorded {
  /** The injection format that it was written in; left out: the first. Read it by `formatOf`. */
  readonly format?: number;
  /** The names of the variables that came after the first format: by them an older version takes out what it does not know. */
  readonly variables?: readonly string[];
  /** Pull secrets that were added. */
  readonly pullSecrets?: readonly string[];
  /** By container. */
  readonly kept?: Readonly<Record<string, Kept>>;
  /** The pod template's own value of `lumigo.auto-trace`. */
  readonly label?: string;
  /** The user's list of volumes that are safe to evict. */
  readonly safeToEvict?: string;
  /** Containers that were left alone. */
  readonly leftAlone?: readonly string[];
  /** The pod template's metadata was there and empty: since Kubernetes 1.34 the API server shows it so. */
  readonly emptyMetadata?: boolean;
}

/** The format of injections whose record does not name one, and of the original operator's. */
const FIRST_FORMAT = 1;

export const formatOf = (record: InjectionRecord | undefined): number => record?.format ?? FIRST_FORMAT;

/**
 * The variables that an injection has written, by name. Undefined stands for one of which this version knows the name only:
 * a later one wrote it, before the operator was rolled back.
 */
export function writtenVariables(
  record: InjectionRecord | undefined,
): ReadonlyMap<string, InjectedVariable | undefined> {
  const format = formatOf(record);
  const rows = new Map<string, InjectedVariable | undefined>(variablesOf(format).map((row) => [row.name, row]));
  if (format > currentFormat) for (const name of record?.variables ?? []) rows.set(name, undefined);
  return rows;
}

/** What is known only once it is injected; what is undefined or empty is left out. */
type Findings = {
  readonly [K in Exclude<keyof InjectionRecord, keyof Recorded | 'format' | 'variables'>]:
    InjectionRecord[K] | undefined;
};

/** The record as the text of the annotation. */
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

/** The longest record that is written or read. Anybody can write one of megabytes; one of this length is read in a millisecond. */
export const LONGEST_RECORD = 64 * 1024;

const known = new WeakMap<PodTemplate, InjectionRecord | undefined>();

/** The record on a pod template; undefined where there is none, or none that this operator could have written. */
export function readRecord(template: PodTemplate): InjectionRecord | undefined {
  // Templates never change, and a decision asks many times.
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

/** As the API server takes it; what a source refers to it says itself. */
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

/** Anybody can write an annotation; what `remove` builds upon is looked at first. */
const isRecord = form(required, optional);
