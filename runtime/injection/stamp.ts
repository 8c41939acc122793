import { annotations, labels, optInDefaults } from '../contract.ts';
import { labelBefore } from './label.ts';
import { withEntry, withoutEmpty } from '../json/values.ts';
import { parseRevert, withoutRevert } from './revert.ts';
import type { Metadata } from '../api/objects.ts';
import type { TracingSettings } from './types.ts';
import { digest } from '../wording/digest.ts';

/** What the operator notes on a workload about its last change. */
export interface Stamp {
  /** `adopted`: it was found as it is, and there is nothing to tell. */
  readonly change: 'added' | 'updated' | 'adopted';
  /** ISO 8601, to the millisecond: tells two changes apart. */
  readonly at: string;
  readonly by: 'webhook' | 'controller';
  readonly tracing: TracingSettings;
  /** The injection stays when its Lumigo goes. */
  readonly keep?: true;
  /** How often an injection of this program was reverted before; left out for never. */
  readonly attempt?: number;
  /** The value of `lumigo.auto-trace` that the user had set; it comes back on removal. */
  readonly userLabel?: string;
}

/** Anybody can write an annotation: a label that Kubernetes would not take is none that was remembered. */
const FORM =
  /^(?<change>added|updated|adopted) (?<at>\S+) by (?<by>webhook|controller); secret=(?<secretName>[^/\s]+)\/(?<secretKey>\S+) traces=(?<traces>true|false) logs=(?<logs>true|false)(?<keep> keep)?(?: attempt=(?<attempt>\d{1,4}))?(?: label=(?<userLabel>(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?))?$/;

type Groups = Pick<Stamp, 'change' | 'at' | 'by' | 'userLabel'> &
  Readonly<
    Record<'secretName' | 'secretKey' | 'traces' | 'logs', string> & Record<'keep' | 'attempt', string | undefined>
  >;

/** One line for people and programs: `added 2026-11-20T10:00:00.000Z by webhook; secret=lumigo-credentials/token traces=true logs=false`. */
function writeStamp({ change, at, by, tracing, keep, attempt, userLabel }: Stamp): string {
  const { secretName, secretKey, traces, logs } = tracing;
  const more = `${keep === true ? ' keep' : ''}${attempt === undefined ? '' : ` attempt=${attempt}`}${userLabel === undefined ? '' : ` label=${userLabel}`}`;
  return `${change} ${at} by ${by}; secret=${secretName}/${secretKey} traces=${traces} logs=${logs}${more}`;
}

/** In characters. The longest that the operator writes has about 660. */
const MAX_STAMP = 700;

const REVERTED = 'reverted ';

/** The annotation as it is kept and compared: the text of a stamp, or a digest of any other. */
export function stampText({ annotations: found }: Metadata): string | undefined {
  const text = found?.[annotations.instrumentation];
  if (text === undefined || parseStamp(text) !== undefined) return text;
  return parseRevert(text) === undefined ? digest(text) : REVERTED + digest(text);
}

/** Returns whether the annotation, as `stampText` returns it, says that the injection was reverted. */
export const isReverted = (text: string | undefined): boolean => text?.startsWith(REVERTED) === true;

/** Reads the annotation's text; undefined for none, or one that is not ours. */
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

/** The stamp that stands on a workload; undefined where there is none. */
export const stampOf = (metadata: Metadata | undefined): Stamp | undefined =>
  parseStamp(metadata?.annotations?.[annotations.instrumentation]);

/** The metadata of an instrumented workload: our label and our stamp. */
export function stamp(metadata: Metadata, label: string, content: Stamp): Metadata {
  return {
    ...metadata,
    labels: { ...metadata.labels, [labels.autoTrace]: label },
    annotations: { ...metadata.annotations, [annotations.instrumentation]: writeStamp(content) },
  };
}

/** The exact inverse of `stamp`: the user's own label is back, and maps that have become empty are gone. */
export function unstamp(marked: Metadata): Metadata {
  const metadata = withoutRevert(marked);
  const own = {
    labels: withEntry(metadata.labels, labels.autoTrace, labelOf(metadata)),
    annotations: withEntry(metadata.annotations, annotations.instrumentation, undefined),
  };
  return withoutEmpty({ ...metadata, ...own }, ['labels', 'annotations']);
}

/** `lumigo.auto-trace` as the user set it. */
export const labelOf = (metadata: Metadata): string | undefined => labelBefore(metadata, stampOf(metadata)?.userLabel);

/** What a workload asks for by its own labels, which count where no Lumigo speaks for its namespace; undefined where it does not opt in. */
export function optInOf(metadata: Metadata): TracingSettings | undefined {
  if (labelOf(metadata)?.toLowerCase() !== 'true') return undefined;
  // An empty label says nothing.
  const value = (label: string, fallback: string) => metadata.labels?.[label] || fallback;
  return {
    secretName: value(labels.tokenSecret, optInDefaults.tokenSecret),
    secretKey: value(labels.tokenKey, optInDefaults.tokenKey),
    traces: value(labels.enableTraces, String(optInDefaults.traces)).toLowerCase() !== 'false',
    logs: value(labels.enableLogs, String(optInDefaults.logs)).toLowerCase() === 'true',
  };
}
