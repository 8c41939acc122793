/** The essential metrics that the collector of a node scrapes, with the labels that v69's scrape configuration sends. */
export const scrapedMetrics: readonly (readonly [name: string, labels: readonly string[]])[] = [
  ['container_cpu_usage_seconds_total', ['cpu', 'id', 'container', 'image', 'name', 'namespace', 'pod']],
  ['container_memory_working_set_bytes', ['id', 'container', 'image', 'name', 'namespace', 'pod']],
  ['node_cpu_seconds_total', ['cpu', 'mode', 'node']],
  ['node_memory_Active_bytes', ['node']],
];
