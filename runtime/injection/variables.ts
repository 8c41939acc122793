import { environment, injector, otlpPaths } from '../contract.ts';
import { join } from './joined-list.ts';
import type { EnvVar } from '../api/objects.ts';
import type { InjectionSettings, TracingSettings } from './types.ts';

export type InjectedSettings = TracingSettings & Pick<InjectionSettings, 'endpoint'>;

interface OwnVariable {
  readonly write: (recorded: InjectedSettings, container: string) => Pick<EnvVar, 'value' | 'valueFrom'>;
  /** The inverse of `write`, for the original operator, which left no record. */
  readonly read?: (there: EnvVar | undefined) => Partial<InjectedSettings>;
  /** A setting of the namespace: a value of the container's own wins. */
  readonly yields?: true;
}

export interface JoinedVariable {
  readonly joined: string;
  readonly yields?: undefined;
}

export type InjectedVariable = { readonly name: string } & (OwnVariable | JoinedVariable);
/** `since`: the first injection format with this row. A row with the same name and a later format replaces it. */
type FormatRow = InjectedVariable & { readonly since: number };

/** A release that adds or changes a row gives it the next format. Earlier injections then stay as they are (docs/contributing/adr/0002). */
export const variables: readonly FormatRow[] = [
  { name: environment.preload, since: 1, joined: injector.preload },
  {
    name: environment.token,
    since: 1,
    // Optional, so that a pod starts without the Secret.
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

export const currentFormat = Math.max(...variables.map(({ since }) => since));

export const getVariables = (format: number, table = variables): readonly FormatRow[] =>
  table.filter(
    ({ name, since }) =>
      since <= format && !table.some((other) => other.name === name && other.since > since && other.since <= format),
  );

/** Returns a row for each setting of the namespace. A tenant can forge any number of other fields in a record. */
export const getTracerRows = ({ env = {} }: Pick<InjectedSettings, 'env'>): readonly InjectedVariable[] =>
  Object.entries(env).map(([name, { value, valueFrom }]) => {
    const written = { ...(value !== undefined && { value }), ...(valueFrom !== undefined && { valueFrom }) };
    return { name, yields: true, write: () => written };
  });

/** Returns the one in effect, which is the last of those with the name. */
export const findVariable = (env: readonly EnvVar[] | undefined, name: string): EnvVar | undefined =>
  env?.findLast((each) => each.name === name);

export function writtenVariable(row: InjectedVariable, recorded: InjectedSettings, container: string, own?: EnvVar) {
  const written = 'joined' in row ? { value: join(own?.value, row.joined, ':') } : row.write(recorded, container);
  return { name: row.name, ...written };
}
