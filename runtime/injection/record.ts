import { annotations } from '../contract.ts';
import { withoutEmpty } from './lists.ts';
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
}

/** What is known only once it is injected; what is undefined or empty is left out. */
type Findings = {
  readonly [K in 'pullSecrets' | 'kept' | 'label' | 'safeToEvict' | 'leftAlone']: InjectionRecord[K] | undefined;
};

export function recordOf(settings: InjectionSettings, findings: Findings): InjectionRecord {
  const { endpoint, secretName, secretKey, traces, logs } = settings;
  const record = { endpoint, secretName, secretKey, traces, logs, ...findings };
  return withoutEmpty(record, ['pullSecrets', 'kept', 'label', 'safeToEvict', 'leftAlone']) as InjectionRecord;
}

export const writeRecord = (record: InjectionRecord): string => JSON.stringify(record);

/** The record on a pod template; undefined where there is none, or none that can be read. */
export function readRecord(template: PodTemplate): InjectionRecord | undefined {
  const text = template.metadata?.annotations?.[annotations.injection];
  if (text === undefined) return undefined;
  try {
    const record = JSON.parse(text) as Partial<InjectionRecord> | null;
    return typeof record?.endpoint === 'string' && typeof record.secretName === 'string'
      ? (record as InjectionRecord)
      : undefined;
  } catch {
    return undefined;
  }
}
