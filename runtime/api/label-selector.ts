import type * as api from '@kubernetes/client-node';
import type { Frozen } from './objects.ts';

export type LabelSelector = Frozen<api.V1LabelSelector>;

/** By operator. The API server's policy for pods has the same rules (infra/constructs/pod-policy/pod-policy.ts). */
const operators: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

/** Returns whether a selector selects an object with these labels. An empty selector selects everything. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const get = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(matchLabels).every(([key, value]) => get(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => operators[operator]?.(get(key), values) === true)
  );
}
