import type { TracerSetting } from '../api/lumigo.ts';
import type { TracerVariables } from './types.ts';
import { variables } from './variables.ts';

/** The limits of `spec.tracing.env`. A value has no control characters, so its JSON is at most twice as long. */
export const tracerSettings = {
  name: '^(LUMIGO|OTEL)_[A-Z0-9_]+$',
  value: '^[^\\x00-\\x1f\\x7f]+$',
  secretOrConfigMap: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  key: '^([-_a-zA-Z0-9]|[.][-_a-zA-Z0-9])[-._a-zA-Z0-9]*$',
  MAX_SETTINGS: 32,
  MAX_NAME_CHARACTERS: 128,
  /** The total of names, values and references, because each injected container gets a copy of them. */
  MAX_CHARACTERS: 4_096,
} as const;

/** The variables that the injection itself sets in every container. */
export const injectionsOwn: readonly string[] = [...new Set(variables.map(({ name }) => name))];

/** Returns the settings by the variable's name. A missing Secret or ConfigMap must not keep a pod from starting. */
export const getTracerVariables = (settings: readonly TracerSetting[]): TracerVariables =>
  Object.fromEntries(
    settings.map(({ name, value = '', valueFrom: from }) => [name, from ? { valueFrom: optional(from) } : { value }]),
  );

const optional = (valueFrom: NonNullable<TracerSetting['valueFrom']>) =>
  Object.fromEntries(Object.entries(valueFrom).map(([from, { name, key }]) => [from, { name, key, optional: true }]));

const NAME = new RegExp(tracerSettings.name);

/** Returns a sentence about the first name that the operator does not set. An older definition may accept any name. */
export function whyRefused(settings: readonly TracerSetting[] = []): string | undefined {
  for (const { name } of settings) {
    if (injectionsOwn.includes(name))
      return `spec.tracing.env sets ${name}, which the injection sets itself; remove it from the list`;
    if (!NAME.test(name))
      return `spec.tracing.env sets ${name}, but only names that begin with LUMIGO_ or OTEL_ are allowed; remove it from the list`;
  }
  return undefined;
}
