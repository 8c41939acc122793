import type { MonitoredEntry } from '../config/config.ts';
import { lumigo as contract } from '../contract.ts';
import { selects } from '../api/label-selector.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { Metadata } from '../api/objects.ts';
import { orUndefined } from '../json/values.ts';

/** An entry with the namespace's name precedes selectors, and the first match counts. Undefined: not monitored. */
export function findEntry(monitored: readonly MonitoredEntry[], { name, labels }: Pick<Metadata, 'name' | 'labels'>) {
  return (
    monitored.find(({ namespace }) => namespace === name) ??
    monitored.find(({ selector }) => selector !== undefined && selects(selector, labels))
  );
}

type SecretRef = Readonly<Record<'name' | 'key', string>>;

/** `usual`: the place of tokens for entries that name none. */
export const getSecretRef = ({ secretName, secretKey }: MonitoredEntry, usual: SecretRef): SecretRef => ({
  name: secretName ?? usual.name,
  key: secretKey ?? usual.key,
});

type Monitoring = Readonly<{ kind: 'create' | 'patch' | 'none'; spec?: object }>;

/** `needsToken`: the namespace gets its Secret when the operator's namespace has a token. */
type Mark = Pick<MonitoredEntry, 'tracingEnabled' | 'loggingEnabled'> & { readonly needsToken?: boolean };

export const formatMark = ({ tracingEnabled, loggingEnabled }: MonitoredEntry, needsToken = false): string =>
  JSON.stringify({ tracingEnabled, loggingEnabled, ...(needsToken && { needsToken }) });

export const parseMark = (mark = ''): Mark => orUndefined(() => JSON.parse(mark) as Mark | null) ?? {};

/**
 * Plans the next step in a monitored namespace. An existing `Lumigo` gets the flags of the entry. A `Lumigo` of another
 * name never changes. `mark`: what the namespace got before. With a mark, only later changes of the entry apply.
 */
export function planMonitoring(
  entry: MonitoredEntry,
  there: readonly Pick<LumigoResource, 'metadata' | 'spec'>[],
  secretRef: SecretRef,
  mark?: string,
): Monitoring {
  if (there.length === 0 && mark === undefined) {
    const tracing = { enabled: entry.tracingEnabled ?? true };
    const logging = { enabled: entry.loggingEnabled ?? true };
    return { kind: 'create', spec: { lumigoToken: { secretRef }, tracing, logging } };
  }
  const spec = there.find(({ metadata }) => metadata.name === contract.singular)?.spec;
  return spec === undefined ? { kind: 'none' } : adoption(entry, parseMark(mark), spec);
}

function adoption(entry: MonitoredEntry, before: Mark, spec: NonNullable<LumigoResource['spec']>): Monitoring {
  const tracing = changed(entry.tracingEnabled, before.tracingEnabled, spec.tracing?.enabled);
  const logging = changed(entry.loggingEnabled, before.loggingEnabled, spec.logging?.enabled);
  return (tracing ?? logging) === undefined ? { kind: 'none' } : { kind: 'patch', spec: { tracing, logging } };
}

/** Undefined if the entry does not set the flag, set it before, or if the `Lumigo` has it. */
const changed = (said: boolean | undefined, before: boolean | undefined, is: boolean | undefined) =>
  said === undefined || said === before || said === is ? undefined : { enabled: said };
