import type * as api from '@kubernetes/client-node';
import type { Raw } from '../injection/types.ts';

export type LabelSelector = Raw<api.V1LabelSelector>;

/** One namespace by its name, or those that a selector finds, whenever they come. */
export interface MonitoredEntry {
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly secretName?: string;
  readonly secretKey?: string;
  readonly tracingEnabled?: boolean;
  readonly loggingEnabled?: boolean;
}

/**
 * The entries that the settings hold, as they stand in the environment: JSON.
 * @throws Error which ends a sentence that begins with what is wrong
 */
export function parseMonitored(text: string): readonly MonitoredEntry[] {
  const entries = JSON.parse(text) as readonly MonitoredEntry[];
  const isOne = ({ namespace, selector }: MonitoredEntry) => (namespace === undefined) !== (selector === undefined);
  if (!Array.isArray(entries) || !entries.every(isOne))
    throw new Error('must be a list in which each entry has either a namespace or a selector');
  return entries;
}
