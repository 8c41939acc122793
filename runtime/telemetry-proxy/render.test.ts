import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { collectedKinds } from './render-collection.ts';
import { collection, settings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { LOAD_MS } from './reloader.ts';
import { port } from './render-nodes.ts';
import { render } from './render.ts';
import type { Collection, CollectorConfiguration, ProxySettings } from './types.ts';

const withPort = (collected: Collection): Collection => ({
  ...collected,
  namespaces: [...collected.namespaces, port],
});

interface Queue {
  readonly queue_size: number;
  readonly batch: { readonly min_size: number };
}

const getRoutes = (connector: object = {}) =>
  (connector as { table?: readonly { condition: string; pipelines: readonly [string] }[] }).table ?? [];

const forAll = (check: (given: ProxySettings, collected: Collection) => void) =>
  fc.assert(fc.property(settings, collection, check));

const forAllSettings = (check: (given: ProxySettings, forwarding: CollectorConfiguration) => void) =>
  fc.assert(fc.property(settings, (given) => check(given, render(given, undefined))));

describe("the collector's configuration", () => {
  it('uses what it defines, and defines what it uses', () => {
    fc.assert(
      fc.property(settings, fc.option(collection, { nil: undefined }), (given, collected) => {
        const { service, receivers, processors, exporters, connectors, extensions } = render(given, collected);
        const used = (part: 'receivers' | 'processors' | 'exporters') =>
          new Set(Object.values(service.pipelines).flatMap((pipeline) => pipeline[part] ?? []));
        const names = (...parts: readonly object[]) => new Set(parts.flatMap(Object.keys));
        expect(used('receivers')).toEqual(names(receivers, connectors));
        expect(used('exporters')).toEqual(names(exporters, connectors));
        expect(used('processors')).toEqual(names(processors));
        expect(new Set(service.extensions)).toEqual(names(extensions));
      }),
    );
  });

  it.each([
    { sent: 'events', connector: 'routing/namespaces', key: 'key' },
    { sent: 'logFiles', connector: 'routing/log-files', key: 'node-key' },
  ] as const)('sends $sent of each namespace under its own token and under no other', ({ sent, connector, key }) => {
    forAll((given, collected) => {
      const { connectors, exporters, service } = render(given, withPort(collected));
      const table = getRoutes(connectors[connector]);
      const sending = collected.namespaces.filter(({ sends }) => sends.includes(sent));
      for (const each of collected.namespaces) {
        const condition = `attributes["k8s.namespace.name"] == "${each.name}"`;
        const routes = table.filter((route) => route.condition.split(' or ').includes(condition));
        expect(routes.length).toBe(sending.includes(each) ? 1 : 0);
        const [exporter = ''] = service.pipelines[routes[0]?.pipelines[0] ?? '']?.exporters ?? [];
        const headers = { Authorization: `LumigoToken ${each.token}`, 'Lumigo-Loop-Key': `Bearer ${key}` };
        if (sending.includes(each)) expect(exporters[exporter]).toMatchObject({ headers });
      }
      expect(table.length).toBe(new Set(sending.map(({ token }) => token)).size);
    });
  });

  it('tries without end to send what it accepted, and events block their watch instead of being dropped', () => {
    forAll((given, collected) => {
      const exporters = Object.entries(render(given, collected).exporters);
      const getAll = (start: string) => exporters.flatMap(([name, each]) => (name.startsWith(start) ? each : []));
      const shards = getAll('otlphttp/lumigo');
      const events = getAll('otlphttp/to/');
      expect(shards).toHaveLength(16);
      for (const each of [...shards, ...events]) expect(each).toHaveProperty('retry_on_failure.max_elapsed_time', '0s');
      for (const each of events) {
        const { sending_queue: queue } = each as { sending_queue: Queue };
        expect(queue).toHaveProperty('block_on_overflow', true);
        // A larger batch would never be complete, because each event is a request.
        expect(queue.batch.min_size).toBeLessThanOrEqual(queue.queue_size);
      }
    });
  });

  it('watches each kind once, for any number of namespaces [D36]', () => {
    forAll((given, collected) => {
      fc.pre(collected.namespaces.some(({ sends }) => sends.includes('events')));
      const { objects } = render(given, collected).receivers['k8sobjects/changes'] as {
        objects: readonly { name: string; namespaces?: unknown; resource_version?: string }[];
      };
      const watched = collectedKinds.map(({ plural }) => [plural, undefined, collected.since[plural]]);
      expect(objects.map((each) => [each.name, each.namespaces, each.resource_version])).toEqual(watched);
    });
  });

  it('takes data of nodes only with a key, and log lines only of namespaces that log', () => {
    forAll((given, collected) => {
      const { receivers, processors } = render(given, withPort(collected));
      expect(receivers['otlp/nodes']).toHaveProperty('protocols.http.auth.authenticator', 'bearertokenauth/nodes');
      const names = collected.namespaces.filter(({ sends }) => sends.includes('logFiles')).map(({ name }) => name);
      const [condition = ''] = (processors['filter/log-files'] as { logs: { log_record: string[] } }).logs.log_record;
      const [, listed = ''] = /\^\((.*)\)\$/.exec(condition) ?? [];
      expect(names.length > 0 || condition === 'true').toBe(true);
      expect(listed.split('|').filter(Boolean).toSorted()).toEqual(names.toSorted());
    });
  });

  it('has no token and does not wait for the API server if it only forwards', () => {
    forAllSettings((given, forwarding) => {
      expect(serialize(forwarding)).not.toMatch(/t_[0-9a-f]{21}|wait_for_metadata/);
      const nothing = { namespaces: [], initial: [], since: {}, key: 'key', nodeKey: 'node-key' };
      expect(render(given, nothing)).toEqual(forwarding);
    });
  });

  it('lists the pods within the time that a reload may take, one pipeline after the other', () => {
    forAll((given, collected) => {
      const { processors, service } = render(given, withPort(collected));
      const used = Object.values(service.pipelines).flatMap(({ processors: names = [] }) => names);
      const waits = used.map((name) => (processors[name] as { wait_for_metadata_timeout?: string } | undefined) ?? {});
      const seconds = waits.map(({ wait_for_metadata_timeout: wait = '0s' }) => Number(wait.replace(/s$/, '')));
      expect(seconds.filter((each) => each > 0)).toHaveLength(4);
      expect(seconds.reduce((sum, each) => sum + each, 0) * 1_000).toBeLessThan(LOAD_MS);
    });
  });

  it.each(['logs', 'metrics'] as const)('sends %s to an endpoint of their own if the settings name one', (signal) => {
    forAllSettings((given) => {
      const toEndpoint = (endpoint: string) =>
        render({ ...given, [`${signal}Endpoint`]: endpoint }, undefined).exporters['otlphttp/lumigo'];
      expect(toEndpoint('')).not.toHaveProperty(`${signal}_endpoint`);
      expect(toEndpoint('https://own.example')).toHaveProperty(
        `${signal}_endpoint`,
        `https://own.example/v1/${signal}`,
      );
    });
  });

  it('keeps only pods on a node, without annotations, and removes long names before it copies any', () => {
    const isLong = /^delete_matching_keys\(.* and Len\(.*\) > 253$/;
    const onNode = expect.arrayContaining([{ key: 'spec.nodeName', op: 'not-equals', value: '' }]);
    forAll((given, collected) => {
      const { processors, service } = render(given, withPort(collected));
      const finders = Object.keys(processors).filter((name) => name.startsWith('k8sattributes'));
      expect(finders).toHaveLength(3);
      for (const finder of finders) {
        expect(processors[finder]).toHaveProperty('filter.fields', onNode);
        expect(processors[finder]).not.toHaveProperty('extract.annotations');
        const users = Object.values(service.pipelines).filter((each) => each.processors?.includes(finder));
        for (const { processors: used = [] } of users) {
          const next = used.slice(used.indexOf(finder)).find((name) => name.startsWith('transform/')) ?? '';
          const { log_statements: logs } = processors[next] as { log_statements: [{ statements: string[] }] };
          expect(logs[0].statements.slice(0, 13).every((statement) => isLong.test(statement))).toBe(true);
        }
        expect(users.length).toBeGreaterThan(0);
      }
    });
  });

  it('has its own metrics on loopback for the manager alone if they are restricted [F25]', () => {
    forAllSettings(({ listenAddress, metricsSecure }, { service }) => {
      const { metrics } = service.telemetry as {
        metrics: { readers: readonly { pull: { exporter: { prometheus: { host: string } } } }[] };
      };
      const plain = listenAddress.includes(':') ? `[${listenAddress}]` : listenAddress;
      const hosts = metrics.readers.map(({ pull }) => pull.exporter.prometheus.host);
      expect(hosts).toEqual([metricsSecure ? '127.0.0.1' : plain]);
    });
  });
});
