import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { collectedKinds } from './render-collection.ts';
import { collection, settings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { port } from './render-nodes.ts';
import { render } from './render.ts';
import type { Collection, CollectorConfiguration } from './types.ts';

const withPort = (collected: Collection): Collection => ({
  ...collected,
  namespaces: [...collected.namespaces, port],
});

const definedAndUsed = ({
  service,
  receivers,
  processors,
  exporters,
  connectors,
  extensions,
}: CollectorConfiguration) => {
  const used = (part: 'receivers' | 'processors' | 'exporters') =>
    new Set(Object.values(service.pipelines).flatMap((pipeline) => pipeline[part] ?? []));
  return { used, defined: { receivers, processors, exporters, connectors, extensions } };
};

interface Queue {
  readonly queue_size: number;
  readonly batch: { readonly min_size: number };
}

const getRoutes = (connector: object = {}) =>
  (connector as { table?: readonly { condition: string; pipelines: readonly [string] }[] }).table ?? [];

describe("the collector's configuration", () => {
  it('uses what it defines, and defines what it uses', () => {
    fc.assert(
      fc.property(settings, fc.option(collection, { nil: undefined }), (given, collected) => {
        const configuration = render(given, collected);
        const { used, defined } = definedAndUsed(configuration);
        const connectors = Object.keys(defined.connectors);
        const both = (part: 'receivers' | 'exporters') => [...Object.keys(defined[part]), ...connectors].toSorted();
        expect([...used('receivers')].toSorted()).toEqual(both('receivers'));
        expect([...used('exporters')].toSorted()).toEqual(both('exporters'));
        expect([...used('processors')].toSorted()).toEqual(Object.keys(defined.processors).toSorted());
        expect([...configuration.service.extensions].toSorted()).toEqual(Object.keys(defined.extensions).toSorted());
      }),
    );
  });

  it.each([
    ['events', 'routing/namespaces'],
    ['logFiles', 'routing/log-files'],
  ] as const)('sends %s of each namespace under its own token and under no other', (sent, connector) => {
    fc.assert(
      fc.property(settings, collection, (given, collected) => {
        const { connectors, exporters, service } = render(given, withPort(collected));
        const table = getRoutes(connectors[connector]);
        const sending = collected.namespaces.filter(({ sends }) => sends.includes(sent));
        for (const { name, token } of collected.namespaces) {
          const routes = table.filter(({ condition }) =>
            condition.split(' or ').includes(`attributes["k8s.namespace.name"] == "${name}"`),
          );
          const isSending = sending.some((each) => each.name === name);
          expect(routes.length).toBe(isSending ? 1 : 0);
          const [exporter = ''] = service.pipelines[routes[0]?.pipelines[0] ?? '']?.exporters ?? [];
          if (isSending)
            expect(exporters[exporter]).toMatchObject({
              headers: {
                Authorization: `LumigoToken ${token}`,
                'Lumigo-Loop-Key': `Bearer ${sent === 'events' ? 'key' : 'node-key'}`,
              },
            });
        }
        expect(table.length).toBe(new Set(sending.map(({ token }) => token)).size);
      }),
    );
  });

  it('tries without end to send what it accepted, and events block their watch instead of being dropped', () => {
    fc.assert(
      fc.property(settings, collection, (given, collected) => {
        const exporters = Object.entries(render(given, collected).exporters);
        const getAll = (start: string) => exporters.flatMap(([name, each]) => (name.startsWith(start) ? each : []));
        const shards = getAll('otlphttp/lumigo');
        const events = getAll('otlphttp/to/');
        expect(shards).toHaveLength(16);
        for (const each of [...shards, ...events])
          expect(each).toHaveProperty('retry_on_failure.max_elapsed_time', '0s');
        for (const each of events) expect(each).toHaveProperty('sending_queue.block_on_overflow', true);
      }),
    );
  });

  it('sends events as soon as the queue is full, because each is a request, and waits for no larger batch', () => {
    fc.assert(
      fc.property(settings, collection, (given, collected) => {
        for (const [name, each] of Object.entries(render(given, collected).exporters)) {
          if (!name.startsWith('otlphttp/to/')) continue;
          const { queue_size: size, batch } = (each as { sending_queue: Queue }).sending_queue;
          expect(batch.min_size).toBeLessThanOrEqual(size);
        }
      }),
    );
  });

  it('watches each kind once, for any number of namespaces [D36]', () => {
    fc.assert(
      fc.property(settings, collection, (given, collected) => {
        fc.pre(collected.namespaces.some(({ sends }) => sends.includes('events')));
        const { objects } = render(given, collected).receivers['k8sobjects/changes'] as {
          objects: readonly { name: string; namespaces?: unknown }[];
        };
        expect(objects.map(({ name }) => name)).toEqual(collectedKinds.map(({ plural }) => plural));
        expect(objects.filter(({ namespaces }) => namespaces !== undefined)).toEqual([]);
      }),
    );
  });

  it('takes data of nodes only with a key, and log lines only of namespaces that log', () => {
    fc.assert(
      fc.property(settings, collection, (given, collected) => {
        const { receivers, processors } = render(given, withPort(collected));
        expect(receivers['otlp/nodes']).toMatchObject({
          protocols: { http: { auth: { authenticator: 'bearertokenauth/nodes' } } },
        });
        const names = collected.namespaces.filter(({ sends }) => sends.includes('logFiles')).map(({ name }) => name);
        const [condition = ''] = (processors['filter/log-files'] as { logs: { log_record: string[] } }).logs.log_record;
        const [, listed = ''] = /\^\((.*)\)\$/.exec(condition) ?? [];
        expect(listed.split('|').filter(Boolean).toSorted()).toEqual(names.toSorted());
      }),
    );
  });

  it('contains only tokens of namespaces that it collects, and none if it only forwards', () => {
    fc.assert(
      fc.property(settings, (given) => {
        expect(serialize(render(given, undefined))).not.toMatch(/t_[0-9a-f]{21}/);
      }),
    );
  });

  it('does not wait for the API server if it only forwards', () => {
    const [given] = fc.sample(settings, 1);
    if (given === undefined) throw new Error('no sample');
    expect(serialize(render(given, undefined))).not.toContain('wait_for_metadata');
    const at = (logsEndpoint: string) => render({ ...given, logsEndpoint }, undefined).exporters['otlphttp/lumigo'];
    expect(at('')).not.toHaveProperty('logs_endpoint');
    expect(at('https://logs.example')).toHaveProperty('logs_endpoint', 'https://logs.example/v1/logs');
    const metricsAt = (metricsEndpoint: string) =>
      render({ ...given, metricsEndpoint }, undefined).exporters['otlphttp/lumigo'];
    expect(metricsAt('')).not.toHaveProperty('metrics_endpoint');
    expect(metricsAt('https://metrics.example')).toHaveProperty(
      'metrics_endpoint',
      'https://metrics.example/v1/metrics',
    );
    expect(render(given, { namespaces: [], initial: [], since: {}, key: 'key', nodeKey: 'node-key' })).toEqual(
      render(given, undefined),
    );
  });

  it('believes a claim only of pods on the network of their node, unless pods behind NAT are found', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const { processors } = render(given, undefined);
        const onNetworkOfNode = { key: 'spec.hostNetwork', op: 'equals', value: 'true' };
        const expected = expect.arrayContaining([onNetworkOfNode]);
        const { filter } = processors['k8sattributes/claims'] as { filter: { fields: readonly object[] } };
        expect(filter.fields).toEqual(
          given.telemetryFindPodsBehindNat ? expect.not.arrayContaining([onNetworkOfNode]) : expected,
        );
        expect(processors['k8sattributes']).not.toHaveProperty('filter.fields', expected);
      }),
    );
  });

  it('keeps only pods on a node, without annotations, and removes long names before it copies any', () => {
    const isLong = /^delete_matching_keys\(.* and Len\(.*\) > 253$/;
    fc.assert(
      fc.property(settings, collection, (given, collected) => {
        const { processors, service } = render(given, withPort(collected));
        const finders = Object.keys(processors).filter((name) => name.startsWith('k8sattributes'));
        expect(finders).toHaveLength(3);
        for (const finder of finders) {
          const onNode = expect.arrayContaining([{ key: 'spec.nodeName', op: 'not-equals', value: '' }]);
          expect(processors[finder]).toMatchObject({ filter: { fields: onNode } });
          expect(processors[finder]).not.toHaveProperty('extract.annotations');
          const users = Object.values(service.pipelines).filter((each) => each.processors?.includes(finder));
          for (const { processors: used = [] } of users) {
            const next = used.slice(used.indexOf(finder)).find((name) => name.startsWith('transform/')) ?? '';
            const { log_statements: logs } = processors[next] as { log_statements: [{ statements: string[] }] };
            expect(logs[0].statements.slice(0, 13).every((statement) => isLong.test(statement))).toBe(true);
          }
          expect(users.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('takes the same labels of namespaces, whichever way the pod is found', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const { processors } = render(given, undefined);
        for (const processor of ['k8sattributes', 'k8sattributes/claims']) {
          const { extract } = processors[processor] as { extract: { labels: readonly object[] } };
          expect(extract.labels).toEqual(
            given.telemetryNamespaceLabels.map((key) => ({
              key,
              from: 'namespace',
              tag_name: `k8s.namespace.label.${key}`,
            })),
          );
        }
      }),
    );
  });

  it('has its own metrics on loopback for the manager alone if they are restricted [F25]', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const { metrics } = render(given, undefined).service.telemetry as {
          metrics: { readers: readonly { pull: { exporter: { prometheus: { host: string } } } }[] };
        };
        const plain = given.listenAddress.includes(':') ? `[${given.listenAddress}]` : given.listenAddress;
        expect(metrics.readers.map(({ pull }) => pull.exporter.prometheus.host)).toEqual([
          given.metricsSecure ? '127.0.0.1' : plain,
        ]);
      }),
    );
  });
});
