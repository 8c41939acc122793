import { labels, optInDefaults } from '../contract.ts';
import { labelOf } from './stamp.ts';
import type { Metadata, TracingSettings } from './types.ts';

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
