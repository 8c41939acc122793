import { environment, injector, otlpPaths } from '../contract.ts';
import { join } from './joined-list.ts';
import type { EnvVar } from '../api/objects.ts';
import type { InjectionSettings, TracingSettings } from './types.ts';

/** What the values are made of; the record on the pod template holds all of it. */
export type Recorded = TracingSettings & Pick<InjectionSettings, 'endpoint'>;

/** A variable of our own; a value that the user had set gives way, and comes back on removal. */
interface OwnVariable {
  /** What is written into the container of this name. */
  readonly write: (recorded: Recorded, container: string) => Pick<EnvVar, 'value' | 'valueFrom'>;
  /** The inverse of `write`, where the original operator wrote it: that one left no record. */
  readonly read?: (there: EnvVar | undefined) => Partial<Recorded>;
}

/** A variable that holds a list, in which the user may have entries as well: ours is joined with theirs, and parted from them. */
interface JoinedVariable {
  readonly joined: string;
}

/** `since` is the first injection format that writes it so. A row with the same name and a later format takes its place. */
export type InjectedVariable = { readonly name: string; readonly since: number } & (OwnVariable | JoinedVariable);

/**
 * Every variable that is injected, one row each. A release that adds a row, or writes one differently, gives it the next
 * format: injections of earlier formats then stay as they are (docs/contributing/adr/0002).
 */
export const variables: readonly InjectedVariable[] = [
  { name: environment.preload, since: 1, joined: injector.preload },
  {
    name: environment.token,
    since: 1,
    // Optional, so that a pod starts even when the Secret is gone.
    write: ({ secretName, secretKey }) => ({
      valueFrom: { secretKeyRef: { name: secretName, key: secretKey, optional: true } },
    }),
    read: (there) => {
      const { name, key } = there?.valueFrom?.secretKeyRef ?? {};
      return name === undefined || key === undefined ? {} : { secretName: name, secretKey: key };
    },
  },
  {
    name: environment.endpoint,
    since: 1,
    write: ({ endpoint }) => ({ value: endpoint + otlpPaths.traces }),
    read: (there) => (there?.value === undefined ? {} : { endpoint: there.value.replace(otlpPaths.traces, '') }),
  },
  { name: 'LUMIGO_LOGS_ENDPOINT', since: 1, write: ({ endpoint }) => ({ value: endpoint + otlpPaths.logs }) },
  {
    name: 'LUMIGO_ENABLE_TRACES',
    since: 1,
    write: ({ traces }) => ({ value: String(traces) }),
    read: (there) => ({ traces: there?.value !== 'false' }),
  },
  {
    name: 'LUMIGO_ENABLE_LOGS',
    since: 1,
    write: ({ logs }) => ({ value: String(logs) }),
    read: (there) => ({ logs: there?.value === 'true' }),
  },
  { name: 'LUMIGO_CONTAINER_NAME', since: 1, write: (_recorded, container) => ({ value: container }) },
];

/** The format that this version writes. */
export const currentFormat = Math.max(...variables.map(({ since }) => since));

/** What an injection of this format has written, as far as this version knows. */
export const variablesOf = (format: number, table = variables): readonly InjectedVariable[] =>
  table.filter(
    ({ name, since }) =>
      since <= format && !table.some((other) => other.name === name && other.since > since && other.since <= format),
  );

/** A variable as it stands in a container whose user had set it to `own`. */
export function writtenVariable(
  variable: InjectedVariable,
  recorded: Recorded,
  container: string,
  own: EnvVar | undefined,
): EnvVar {
  const written =
    'joined' in variable ? { value: join(own?.value, variable.joined, ':') } : variable.write(recorded, container);
  return { name: variable.name, ...written };
}
