import { annotations } from '../contract.ts';
import { isLabelValue } from './label.ts';
import { type Check, flag, form, isShallow, listOf, mapOf, text } from '../json/form.ts';
import { orUndefined, withoutEmpty } from '../json/values.ts';
import { isOurMountPath } from './refusal.ts';
import type { EnvVar, PodTemplate, VolumeMount } from '../api/objects.ts';
import { currentFormat, getTracerRows, getVariables } from './variables.ts';
import type { InjectedVariable, InjectedSettings } from './variables.ts';

export interface Kept {
  readonly env?: readonly EnvVar[];
  readonly mount?: VolumeMount | undefined;
}

/** The annotation for `remove`. It has no version and no time, because a change of it would roll out the workload. */
export interface OriginalState extends InjectedSettings {
  readonly format?: number;
  /** Names of variables of later formats. An older version of the operator removes them by name. */
  readonly variables?: readonly string[];
  readonly pullSecrets?: readonly string[];
  readonly kept?: Readonly<Record<string, Kept>>;
  readonly label?: string;
  readonly safeToEvict?: string;
  readonly skipped?: readonly string[];
  /** Names of those that an annotation excludes. They are injected when it no longer does. */
  readonly excluded?: readonly string[];
  /** Names of init containers that are injected. */
  readonly initContainers?: readonly string[];
  /** The injector's image, and a fingerprint of its container, without the changes of other webhooks. */
  readonly image?: string;
  readonly injector?: string;
  /** The pod template had empty metadata, as the API server shows it since Kubernetes 1.34. */
  readonly emptyMetadata?: boolean;
}

const FIRST_FORMAT = 1;

export const getFormat = (originalState: OriginalState | undefined): number => originalState?.format ?? FIRST_FORMAT;

/** Returns the variables that an injection wrote; undefined rows for those of a later version, before a rollback. */
export function writtenVariables(originalState?: OriginalState): ReadonlyMap<string, InjectedVariable | undefined> {
  const format = getFormat(originalState);
  const all = [...getTracerRows(originalState ?? {}), ...getVariables(format)];
  const rows = new Map<string, InjectedVariable | undefined>(all.map((row) => [row.name, row]));
  if (format > currentFormat) for (const name of originalState?.variables ?? []) rows.set(name, undefined);
  return rows;
}

type Findings = {
  readonly [K in Exclude<keyof OriginalState, keyof InjectedSettings | 'format' | 'variables'>]:
    OriginalState[K] | undefined;
};

export function formatOriginalState(recorded: InjectedSettings, format: number, found: Findings): string {
  const { endpoint, secretName, secretKey, traces, logs, env } = recorded;
  const added = getVariables(format).filter(({ since }) => since > FIRST_FORMAT);
  const record = {
    endpoint,
    secretName,
    secretKey,
    traces,
    logs,
    env,
    ...found,
    format: format === FIRST_FORMAT ? undefined : format,
    variables: added.map(({ name }) => name),
  };
  return JSON.stringify(withoutEmpty(record, Object.keys(record) as (keyof typeof record)[]));
}

/** Characters. A tenant can write a longer one. Reading one of this length takes 1 ms. */
export const MAX_ORIGINAL_STATE_LENGTH = 64 * 1024;

const known = new WeakMap<object, OriginalState | undefined>();

/** Returns the original state on a pod template; undefined if this operator could not have written it. */
export function getOriginalState(template: Pick<PodTemplate, 'metadata'>): OriginalState | undefined {
  // A cache, because templates never change and one decision reads it many times.
  if (!known.has(template))
    known.set(template, parseAnnotation(template.metadata?.annotations?.[annotations.injection]));
  return known.get(template);
}

function parseAnnotation(annotation: string | undefined): OriginalState | undefined {
  if (typeof annotation !== 'string' || annotation.length > MAX_ORIGINAL_STATE_LENGTH) return undefined;
  const state = orUndefined(() => JSON.parse(annotation) as unknown);
  return isOriginalState(state) && isShallow(state) ? (state as OriginalState) : undefined;
}

const variable = form({ name: text }, { value: text, valueFrom: form({}) });
const isMount = form({ name: text, mountPath: text });
const ourMount: Check = (value) => isMount(value) && isOurMountPath(value as VolumeMount);

const required = { endpoint: text, secretName: text, secretKey: text, traces: flag, logs: flag } satisfies Record<
  Exclude<keyof InjectedSettings, 'env'>,
  Check
>;
const optional = {
  env: mapOf(form({}, { value: text, valueFrom: form({}) })),
  format: Number.isInteger,
  variables: listOf(text),
  pullSecrets: listOf(text),
  kept: mapOf(form({}, { env: listOf(variable), mount: ourMount })),
  label: isLabelValue,
  safeToEvict: text,
  skipped: listOf(text),
  excluded: listOf(text),
  initContainers: listOf(text),
  image: text,
  injector: text,
  emptyMetadata: flag,
} satisfies Record<Exclude<keyof OriginalState, keyof typeof required>, Check>;

/** Checks everything that `remove` uses, because a tenant can write the annotation. */
const isOriginalState = form(required, optional);
