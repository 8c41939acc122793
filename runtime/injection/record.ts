import { annotations } from '../contract.ts';
import { member, withoutEmpty } from './lists.ts';
import type { EnvVar, InjectionSettings, PodTemplate, TracingSettings, VolumeMount } from './types.ts';

/** What of one container gave way to the injection. */
export interface Kept {
  readonly env?: readonly EnvVar[];
  readonly mount?: VolumeMount;
}

/**
 * What `inject` wrote and what gave way to it, kept on the pod template so that `remove` is its exact inverse. It holds
 * nothing that changes without the injection changing: no version, no time.
 */
export interface InjectionRecord extends TracingSettings {
  readonly endpoint: string;
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
  /** The pod template had no metadata, not even empty ones. */
  readonly bare?: true;
}

const optional = ['pullSecrets', 'kept', 'label', 'safeToEvict', 'leftAlone', 'bare'] as const;

/** What is known only once it is injected; what is undefined or empty is left out. */
type Findings = { readonly [K in (typeof optional)[number]]: InjectionRecord[K] | undefined };

export function recordOf(settings: InjectionSettings, findings: Findings): InjectionRecord {
  const { endpoint, secretName, secretKey, traces, logs } = settings;
  const record = { endpoint, secretName, secretKey, traces, logs, ...findings };
  return withoutEmpty(record, optional) as InjectionRecord;
}

/** One line of JSON; the same record gives the same text. */
export const writeRecord = (record: InjectionRecord): string => JSON.stringify(record);

/** The record on a pod template; undefined where there is none, or none that can be read (anybody can edit an annotation). */
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

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const orNothing =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const isKept: Check = (value) =>
  isMap(value) &&
  orNothing(isListOf((item) => isMap(item) && isText(member(item, 'name'))))(member(value, 'env')) &&
  orNothing((mount) => isMap(mount) && isText(member(mount, 'mountPath')))(member(value, 'mount'));

const shape: Readonly<Record<keyof InjectionRecord, Check>> = {
  endpoint: isText,
  secretName: isText,
  secretKey: isText,
  traces: isFlag,
  logs: isFlag,
  pullSecrets: orNothing(isListOf(isText)),
  kept: orNothing((value) => isMap(value) && Object.values(value).every(isKept)),
  label: orNothing(isText),
  safeToEvict: orNothing(isText),
  leftAlone: orNothing(isListOf(isText)),
  bare: orNothing(isFlag),
};

const isRecord = (value: unknown): value is InjectionRecord =>
  isMap(value) && Object.entries(shape).every(([key, check]) => check(member(value, key)));
