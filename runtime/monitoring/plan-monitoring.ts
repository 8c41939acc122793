import type { MonitoredEntry } from '../config/config.ts';
import { lumigo as contract } from '../contract.ts';
import { selects } from '../api/label-selector.ts';
import type { LumigoResource } from '../api/lumigo.ts';

interface Namespace {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** An entry with the namespace's name precedes selectors, and the first match counts. Undefined: not monitored. */
export function findEntry(
  monitored: readonly MonitoredEntry[],
  { name, labels = {} }: Namespace,
): MonitoredEntry | undefined {
  return (
    monitored.find(({ namespace }) => namespace === name) ??
    monitored.find(({ selector }) => selector !== undefined && selects(selector, labels))
  );
}

/** Entries without a token use this place. */
export interface TokenPlace {
  readonly secretName: string;
  readonly secretKey: string;
}

export type Monitoring =
  | { readonly kind: 'create'; readonly place: TokenPlace; readonly spec: object }
  | { readonly kind: 'patch'; readonly spec: object }
  | { readonly kind: 'none' };

type Flags = Pick<MonitoredEntry, 'tracingEnabled' | 'loggingEnabled'>;

export const getFlags = ({ tracingEnabled, loggingEnabled }: Flags): string =>
  JSON.stringify({ tracingEnabled, loggingEnabled });

function parseFlags(mark = ''): Flags {
  try {
    return (JSON.parse(mark) as Flags | null) ?? {};
  } catch {
    return {};
  }
}

/**
 * Plans the next step in a monitored namespace. An existing `Lumigo` gets the flags of the entry. Existing Secrets, and
 * a `Lumigo` of another name, never change. `mark`: the flags that the namespace got before, by `getFlags`. With a mark,
 * only later changes of the entry apply.
 */
export function planMonitoring(
  entry: MonitoredEntry,
  there: readonly Pick<LumigoResource, 'metadata' | 'spec'>[],
  usual: TokenPlace,
  mark?: string,
): Monitoring {
  if (there.length === 0) return mark === undefined ? creation(entry, usual) : { kind: 'none' };
  const spec = there.find(({ metadata }) => metadata.name === contract.singular)?.spec;
  return spec === undefined ? { kind: 'none' } : adoption(entry, parseFlags(mark), spec);
}

function adoption(entry: Flags, before: Flags, spec: NonNullable<LumigoResource['spec']>): Monitoring {
  const tracing = changed(entry.tracingEnabled, before.tracingEnabled, spec.tracing?.enabled);
  const logging = changed(entry.loggingEnabled, before.loggingEnabled, spec.logging?.enabled);
  return tracing === undefined && logging === undefined
    ? { kind: 'none' }
    : { kind: 'patch', spec: { tracing, logging } };
}

function creation(entry: MonitoredEntry, usual: TokenPlace): Monitoring {
  const { tracingEnabled = true, loggingEnabled = true } = entry;
  const place = { secretName: entry.secretName ?? usual.secretName, secretKey: entry.secretKey ?? usual.secretKey };
  const lumigoToken = { secretRef: { name: place.secretName, key: place.secretKey } };
  const spec = { lumigoToken, tracing: { enabled: tracingEnabled }, logging: { enabled: loggingEnabled } };
  return { kind: 'create', place, spec };
}

/** Undefined if the entry does not set the flag, set it before, or if the `Lumigo` has it. */
const changed = (said: boolean | undefined, before: boolean | undefined, is: boolean | undefined) =>
  said === undefined || said === before || said === is ? undefined : { enabled: said };
