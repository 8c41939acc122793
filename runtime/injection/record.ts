import { annotations } from '../contract.ts';
import { withoutEmpty } from './lists.ts';
import type { EnvVar, PodTemplate, VolumeMount } from './types.ts';
import { currentFormat, variablesOf, type Recorded } from './variables.ts';

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

/** Variables of which this version knows the name only: a later one, before the operator was rolled back, wrote them. */
export const namesOfLater = (record: InjectionRecord | undefined): ReadonlySet<string> =>
  new Set(formatOf(record) > currentFormat ? record?.variables : []);

const findings = ['pullSecrets', 'kept', 'label', 'safeToEvict', 'leftAlone', 'emptyMetadata'] as const;

/** What is known only once it is injected; what is undefined or empty is left out. */
type Findings = { readonly [K in (typeof findings)[number]]: InjectionRecord[K] | undefined };

export function recordOf(recorded: Recorded, format: number, found: Findings): InjectionRecord {
  const { endpoint, secretName, secretKey, traces, logs } = recorded;
  const added = variablesOf(format).filter(({ since }) => since > FIRST_FORMAT);
  const record = {
    ...{ endpoint, secretName, secretKey, traces, logs, ...found },
    format: format === FIRST_FORMAT ? undefined : format,
    variables: added.map(({ name }) => name),
  };
  return withoutEmpty(record, [...findings, 'format', 'variables']) as InjectionRecord;
}

export const writeRecord = (record: InjectionRecord): string => JSON.stringify(record);

/** The record on a pod template; undefined where there is none, or none that this operator could have written. */
export function readRecord(template: PodTemplate): InjectionRecord | undefined {
  const text = template.metadata?.annotations?.[annotations.injection];
  if (text === undefined) return undefined;
  try {
    const record: unknown = JSON.parse(text);
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const orMissing = (check: (value: unknown) => boolean) => (value: unknown) => value === undefined || check(value);
const isNamedList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => isMap(item) && isText(item['name']));
const isMount = (value: unknown): boolean => isMap(value) && isText(value['name']) && isText(value['mountPath']);
const isKept = (value: unknown): boolean =>
  isMap(value) && orMissing(isNamedList)(value['env']) && orMissing(isMount)(value['mount']);

/** Anybody can write an annotation; what `remove` builds upon is looked at first. */
const shape: { readonly [K in keyof Required<InjectionRecord>]: (value: unknown) => boolean } = {
  endpoint: isText,
  secretName: isText,
  secretKey: isText,
  traces: isFlag,
  logs: isFlag,
  format: orMissing((value) => Number.isInteger(value)),
  variables: orMissing(isNames),
  pullSecrets: orMissing(isNames),
  kept: orMissing((value) => isMap(value) && Object.values(value).every(isKept)),
  label: orMissing(isText),
  safeToEvict: orMissing(isText),
  leftAlone: orMissing(isNames),
  emptyMetadata: orMissing(isFlag),
};

function isRecord(value: unknown): value is InjectionRecord {
  return isMap(value) && Object.entries(shape).every(([key, check]) => check(value[key]));
}
