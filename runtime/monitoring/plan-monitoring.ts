import type { LabelSelector, MonitoredEntry } from '../config/monitored.ts';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../injection/types.ts';

interface Namespace {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** What a namespace is monitored by; undefined: it is not. What names it comes before what selects it, and the first of these. */
export function entryOf(
  monitored: readonly MonitoredEntry[],
  { name, labels = {} }: Namespace,
): MonitoredEntry | undefined {
  return (
    monitored.find(({ namespace }) => namespace === name) ??
    monitored.find(({ selector }) => selector !== undefined && selects(selector, labels))
  );
}

const operators: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

/** An empty selector selects everything. */
function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Readonly<Record<string, string>>) {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => operators[operator]?.(labels[key], values) === true)
  );
}

/** Where the token stands for entries that say nothing of it. */
export interface TokenPlace {
  readonly secretName: string;
  readonly secretKey: string;
}

export type Monitoring =
  | { readonly action: 'create'; readonly place: TokenPlace; readonly spec: object }
  | { readonly action: 'patch'; readonly spec: object }
  | { readonly action: 'none' };

/**
 * What is to be done in a namespace that an entry monitors. A Lumigo that is there is adopted: only what the entry says expressly is
 * carried over to it, and a Secret that is there is never touched. One of another name is its owner's alone.
 */
export function planMonitoring(
  entry: MonitoredEntry,
  there: readonly Pick<LumigoResource, 'metadata' | 'spec'>[],
  usual: TokenPlace,
): Monitoring {
  if (there.length === 0) return creation(entry, usual);
  const spec = there.find(({ metadata }) => metadata.name === contract.singular)?.spec;
  const tracing = changed(entry.tracingEnabled, spec?.tracing?.enabled);
  const logging = changed(entry.loggingEnabled, spec?.logging?.enabled);
  const isNone = spec === undefined || (tracing === undefined && logging === undefined);
  return isNone ? { action: 'none' } : { action: 'patch', spec: { tracing, logging } };
}

function creation(entry: MonitoredEntry, usual: TokenPlace): Monitoring {
  const { tracingEnabled = true, loggingEnabled = true } = entry;
  const place = { secretName: entry.secretName ?? usual.secretName, secretKey: entry.secretKey ?? usual.secretKey };
  const lumigoToken = { secretRef: { name: place.secretName, key: place.secretKey } };
  const spec = { lumigoToken, tracing: { enabled: tracingEnabled }, logging: { enabled: loggingEnabled } };
  return { action: 'create', place, spec };
}

/** What is to be written of a flag; undefined where nothing is said of it, or it is so. */
const changed = (said: boolean | undefined, is: boolean | undefined) =>
  said === undefined || said === is ? undefined : { enabled: said };
