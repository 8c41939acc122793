import { annotations, labels, optInDefaults } from '../contract.ts';
import { labelBefore } from './label.ts';
import { withEntry, withoutEmpty } from '../json/values.ts';
import { parseRevert, withoutRevert } from './revert.ts';
import type { Metadata } from '../api/objects.ts';
import type { TracingSettings } from './types.ts';
import { digest } from '../wording/digest.ts';

export interface Stamp {
  /** `adopted`: the injection was there already, and no event reports it. */
  readonly change: 'added' | 'updated' | 'adopted';
  /** ISO 8601, in milliseconds, which tells two changes apart. */
  readonly at: string;
  readonly by: 'webhook' | 'controller';
  readonly tracing: TracingSettings;
  readonly keep?: true;
  readonly attempt?: number;
  /** The user's value of `lumigo.auto-trace`, which the removal restores. */
  readonly userLabel?: string;
}

/** Accepts only valid labels, because a tenant can write the annotation. */
const FORM =
  /^(?<change>added|updated|adopted) (?<at>\S+) by (?<by>webhook|controller); secret=(?<secretName>[^/\s]+)\/(?<secretKey>\S+) traces=(?<traces>true|false) logs=(?<logs>true|false)(?<keep> keep)?(?: attempt=(?<attempt>\d{1,4}))?(?: label=(?<userLabel>(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?))?$/;

type Groups = Pick<Stamp, 'change' | 'at' | 'by' | 'userLabel'> &
  Readonly<
    Record<'secretName' | 'secretKey' | 'traces' | 'logs', string> & Record<'keep' | 'attempt', string | undefined>
  >;

/** Example: `added 2026-11-20T10:00:00.000Z by webhook; secret=lumigo-credentials/token traces=true logs=false`. */
function writeStamp({ change, at, by, tracing, keep, attempt, userLabel }: Stamp): string {
  const { secretName, secretKey, traces, logs } = tracing;
  const more = `${keep === true ? ' keep' : ''}${attempt === undefined ? '' : ` attempt=${attempt}`}${userLabel === undefined ? '' : ` label=${userLabel}`}`;
  return `${change} ${at} by ${by}; secret=${secretName}/${secretKey} traces=${traces} logs=${logs}${more}`;
}

/** Characters. The operator writes at most about 660. */
const MAX_STAMP = 700;

const REVERTED = 'reverted ';

/** Returns a stamp's text, or a digest of any other text, for caches and comparisons. */
export function stampText({ annotations: found }: Metadata): string | undefined {
  const text = found?.[annotations.instrumentation];
  if (text === undefined || parseStamp(text) !== undefined) return text;
  return parseRevert(text) === undefined ? digest(text) : REVERTED + digest(text);
}

export const isReverted = (text: string | undefined): boolean => text?.startsWith(REVERTED) === true;

export function parseStamp(text: string | undefined): Stamp | undefined {
  const found = text === undefined || text.length > MAX_STAMP ? null : FORM.exec(text);
  if (found === null) return undefined;
  const { secretName, secretKey, traces, logs, keep, attempt, userLabel, ...rest } = found.groups as unknown as Groups;
  return {
    ...rest,
    tracing: { secretName, secretKey, traces: traces === 'true', logs: logs === 'true' },
    ...(keep === undefined ? {} : { keep: true }),
    ...(attempt === undefined ? {} : { attempt: Number(attempt) }),
    ...(userLabel === undefined ? {} : { userLabel }),
  };
}

export const stampOf = (metadata: Metadata | undefined): Stamp | undefined =>
  parseStamp(metadata?.annotations?.[annotations.instrumentation]);

export function stamp(metadata: Metadata, label: string, content: Stamp): Metadata {
  return {
    ...metadata,
    labels: { ...metadata.labels, [labels.autoTrace]: label },
    annotations: { ...metadata.annotations, [annotations.instrumentation]: writeStamp(content) },
  };
}

export function unstamp(marked: Metadata): Metadata {
  const metadata = withoutRevert(marked);
  const own = {
    labels: withEntry(metadata.labels, labels.autoTrace, labelOf(metadata)),
    annotations: withEntry(metadata.annotations, annotations.instrumentation, undefined),
  };
  return withoutEmpty({ ...metadata, ...own }, ['labels', 'annotations']);
}

export const labelOf = (metadata: Metadata): string | undefined => labelBefore(metadata, stampOf(metadata)?.userLabel);

/** Returns the settings that a workload opts in to by its labels, for a namespace without a `Lumigo`. */
export function optInOf(metadata: Metadata): TracingSettings | undefined {
  if (labelOf(metadata)?.toLowerCase() !== 'true') return undefined;
  const value = (label: string, fallback: string) => metadata.labels?.[label] || fallback;
  return {
    secretName: value(labels.tokenSecret, optInDefaults.tokenSecret),
    secretKey: value(labels.tokenKey, optInDefaults.tokenKey),
    traces: value(labels.enableTraces, String(optInDefaults.traces)).toLowerCase() !== 'false',
    logs: value(labels.enableLogs, String(optInDefaults.logs)).toLowerCase() === 'true',
  };
}
