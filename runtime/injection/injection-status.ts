import { annotations, labels, optInDefaults } from '../contract.ts';
import { labelBefore, withEntry } from './label.ts';
import { withoutEmpty } from '../json/values.ts';
import { parseRevert } from './revert.ts';
import type { Metadata } from '../api/objects.ts';
import type { TracingSettings } from './types.ts';
import { digest } from '../wording/digest.ts';

export interface InjectionStatus {
  /** `adopted`: the injection was there already, and no event reports it. */
  readonly change: 'added' | 'updated' | 'adopted';
  /** ISO 8601, in milliseconds, which tells two changes apart. */
  readonly at: string;
  readonly by: 'webhook' | 'controller';
  readonly tracing: TracingSettings;
  readonly keep?: boolean | undefined;
  readonly attempt?: number | undefined;
  /** The user's value of `lumigo.auto-trace`, which the removal restores. */
  readonly userLabel?: string | undefined;
  /** Why containers are not injected, for the event: the watch shows the leader no pod templates. */
  readonly skipped?: string | undefined;
}

/** The rest of a text may change while the injection stays, such as the reason of a skipped container. */
export const isSameChange = (a?: string, b?: string): boolean => a?.split(';')[0] === b?.split(';')[0];

/** Accepts only valid labels, because a tenant can write the annotation. */
const FORM =
  /^(?<change>added|updated|adopted) (?<at>\S+) by (?<by>webhook|controller); secret=(?<secretName>[^/\s]+)\/(?<secretKey>\S+) traces=(?<traces>true|false) logs=(?<logs>true|false)(?<keep> keep)?(?: attempt=(?<attempt>\d{1,4}))?(?: label=(?<userLabel>(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?))?(?:: (?<skipped>.{1,500}))?$/s;

type Groups = Omit<InjectionStatus, 'tracing' | 'keep' | 'attempt'> &
  Record<'secretName' | 'secretKey' | 'traces' | 'logs', string> &
  Partial<Record<'keep' | 'attempt', string>>;

/** Example: `added 2026-11-20T10:00:00.000Z by webhook; secret=lumigo-credentials/token traces=true logs=false`. */
function formatInjectionStatus({ change, at, by, tracing, keep, attempt, userLabel, skipped }: InjectionStatus) {
  const { secretName, secretKey, traces, logs } = tracing;
  let text = `${change} ${at} by ${by}; secret=${secretName}/${secretKey} traces=${traces} logs=${logs}`;
  if (keep === true) text += ' keep';
  if (attempt !== undefined) text += ` attempt=${attempt}`;
  if (userLabel !== undefined) text += ` label=${userLabel}`;
  return skipped === undefined ? text : `${text}: ${skipped.slice(0, MAX_SKIPPED)}`;
}

/** Characters. A tenant can write the annotation, and an event shows this part of it. */
export const MAX_SKIPPED = 500;
/** Characters. The operator writes at most about 660 before `skipped`. */
const MAX_STATUS_LENGTH = 700 + MAX_SKIPPED;

/** Returns the text of an injection status or a revert, or a digest of any other text, which has no limit. */
export function injectionStatusText({ annotations: found }: Metadata): string | undefined {
  const text = found?.[annotations.instrumentation];
  return text === undefined || isOwnText(text) ? text : digest(text);
}

export const isOwnText = (text: string | undefined): boolean =>
  parseInjectionStatus(text) !== undefined || isReverted(text);

export const isReverted = (text: string | undefined): boolean => parseRevert(text) !== undefined;

export function parseInjectionStatus(text: string | undefined): InjectionStatus | undefined {
  const found = text === undefined || text.length > MAX_STATUS_LENGTH ? null : FORM.exec(text);
  if (found === null) return undefined;
  const { secretName, secretKey, traces, logs, keep, attempt, ...rest } = found.groups as unknown as Groups;
  return {
    ...rest,
    tracing: { secretName, secretKey, traces: traces === 'true', logs: logs === 'true' },
    keep: keep === undefined ? undefined : true,
    attempt: attempt === undefined ? undefined : Number(attempt),
  };
}

export const getInjectionStatus = (metadata: Metadata | undefined): InjectionStatus | undefined =>
  parseInjectionStatus(metadata?.annotations?.[annotations.instrumentation]);

export function injectionStatus(metadata: Metadata, label: string, content: InjectionStatus): Metadata {
  return {
    ...metadata,
    labels: { ...metadata.labels, [labels.autoTrace]: label },
    annotations: { ...metadata.annotations, [annotations.instrumentation]: formatInjectionStatus(content) },
  };
}

/** Removes both forms of the annotation, and the labels that the operator wrote with it. */
export function removeInjectionStatus(metadata: Metadata): Metadata {
  const before = withEntry(metadata.labels, labels.autoTrace, toLabel(metadata));
  const isMarked = isOwnText(metadata.annotations?.[annotations.instrumentation]);
  const own = {
    labels: isMarked ? withEntry(before, labels.rollout, undefined) : before,
    annotations: withEntry(metadata.annotations, annotations.instrumentation, undefined),
  };
  return withoutEmpty({ ...metadata, ...own }, ['labels', 'annotations']);
}

export const toLabel = (metadata: Metadata): string | undefined =>
  labelBefore(metadata, getInjectionStatus(metadata)?.userLabel);

/** Returns the settings that a workload opts in to by its labels, for a namespace without a `Lumigo`. */
export function findOptIn(metadata: Metadata): TracingSettings | undefined {
  if (toLabel(metadata)?.toLowerCase() !== 'true') return undefined;
  const value = (label: string, fallback: string) => metadata.labels?.[label] || fallback;
  return {
    secretName: value(labels.tokenSecret, optInDefaults.tokenSecret),
    secretKey: value(labels.tokenKey, optInDefaults.tokenKey),
    traces: value(labels.enableTraces, String(optInDefaults.traces)).toLowerCase() !== 'false',
    logs: value(labels.enableLogs, String(optInDefaults.logs)).toLowerCase() === 'true',
  };
}
