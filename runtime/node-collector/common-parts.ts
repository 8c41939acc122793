import type { RuntimeConfig } from '../config/config.ts';

/** It refuses data above 80 %, the difference. Before that it removes garbage, by default at most every 10 s. */
export const memoryLimiter = {
  check_interval: '500ms',
  limit_percentage: 90,
  spike_limit_percentage: 10,
  min_gc_interval_when_soft_limited: '1s',
};

/** The names are the collector's defaults, which alerts and the dashboard use. */
const plainly = { without_scope_info: true, without_type_suffix: true, without_units: true };

/** The collector adds a port behind a colon, so an IPv6 address has brackets. */
export const toHost = (address: string): string => (address.includes(':') ? `[${address}]` : address);
export const at = (address: string, port: number): string => `${toHost(address)}:${port}`;

export const toTelemetry = (logLevel: RuntimeConfig['logLevel'], host: string, port: number) => ({
  logs: { level: logLevel === 'debug' ? 'debug' : 'info', encoding: 'json' },
  metrics: { level: 'normal', readers: [{ pull: { exporter: { prometheus: { host, port, ...plainly } } } }] },
});

/** JSON is YAML with quoted names, so a namespace called `true` or `1e3` stays a string. `$` would begin a variable. */
export const serialize = (configuration: object): string =>
  `${JSON.stringify(configuration, undefined, 1).replaceAll('$', '$$$$')}\n`;
