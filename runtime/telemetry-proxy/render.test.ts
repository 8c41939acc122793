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
    const kinds = collectedKinds.map(({ plural }) => plural);
    expect([kinds.includes('deployments'), kinds.includes('rollouts')]).toEqual([true, false]);
    forAll((given, collected) => {
      fc.pre(collected.namespaces.some(({ sends }) => sends.includes('events')));
      const { objects } = render(given, collected).receivers['k8sobjects/changes'] as {
        objects: readonly { name: string; mode: string; namespaces?: unknown; resource_version?: string }[];
      };
      const watched = collectedKinds.map(({ plural }) => [plural, 'watch', undefined, collected.since[plural]]);
      const seen = objects.map((each) => [each.name, each.mode, each.namespaces, each.resource_version]);
      expect(seen).toEqual(watched);
    });
  });

  it('lists the objects that namespaces had before their collection once', () => {
    forAll((given, collected) => {
      fc.pre(collected.namespaces.some(({ sends }) => sends.includes('events')));
      const { receivers } = render(given, collected);
      const once = { mode: 'pull', interval: '8760h', namespaces: collected.initial };
      const objects = collectedKinds.map(({ group, plural }) => ({ name: plural, group, ...once }));
      const listed = { auth_type: given.telemetryProxyCredentials, objects };
      expect(receivers['k8sobjects/initial']).toEqual(collected.initial.length === 0 ? undefined : listed);
    });
  });

  it('sends metrics of the cluster only where they are asked for', () => {
    forAll((given, collected) => {
      const sent = new Set(collected.namespaces.flatMap(({ sends }) => sends));
      const { receivers, service } = render(given, collected);
      expect('otlp/nodes' in receivers).toBe(sent.has('port') || sent.has('metrics'));
      expect('metrics/nodes' in service.pipelines).toBe(sent.has('metrics'));
      expect(receivers['prometheus/kube-state-metrics']).toEqual(
        sent.has('kubeStateMetrics')
          ? { config: { scrape_configs: [expect.objectContaining({ job_name: 'kube-state-metrics' })] } }
          : undefined,
      );
      const loops = [true, false].map((nodeMetrics) => {
        const { pipelines } = render({ ...given, nodeMetrics }, withPort(collected)).service;
        return ['logs/loop', 'metrics/loop'].filter((name) => name in pipelines);
      });
      expect(loops).toEqual([['logs/loop', 'metrics/loop'], ['logs/loop']]);
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
      const nothing = { namespaces: [], initial: [], since: {}, waitsForPods: true, key: 'key', nodeKey: 'node-key' };
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

  it('does not wait for the list of pods if the last one that waited had to be killed', () => {
    forAll((given, collected) => {
      const { namespaces } = withPort(collected);
      expect(serialize(render(given, { ...collected, namespaces, waitsForPods: false }))).not.toContain(
        'wait_for_metadata',
      );
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

  it('adds the attributes of a pod and of its owners, and sets claims of senders about them aside', () => {
    const kinds = ['replicaset', 'job', 'daemonset', 'statefulset', 'deployment', 'cronjob'];
    const names = kinds.map((kind) => `k8s.${kind}.name`);
    const ofPod = ['k8s.namespace.name', 'k8s.pod.name', 'k8s.pod.uid'];
    const others = [
      'k8s.pod.start_time',
      'k8s.node.name',
      'service.namespace',
      'service.version',
      'service.instance.id',
    ];
    const uids = kinds.map((kind) => `k8s.${kind}.uid`);
    forAllSettings((_given, { processors }) => {
      const { extract } = processors['k8sattributes'] as { extract: { metadata: readonly string[] } };
      expect(new Set(extract.metadata)).toEqual(new Set([...names, ...uids, ...ofPod, ...others, 'service.name']));
      const text = JSON.stringify(processors['transform/service']).replaceAll('\\"', "'");
      for (const key of [...names, ...ofPod])
        expect(text).toContain(`delete_matching_keys(attributes, '^${key.replaceAll('.', '[.]')}$')`);
      const long = JSON.stringify(processors['transform/claims']).replaceAll('\\"', "'");
      for (const key of [...names, ...uids, 'service.name']) expect(long).toContain(`Len(attributes['${key}']) > 253`);
    });
  });

  it('looks for pods behind a NAT only if the settings say so, by their uid or name', () => {
    forAllSettings(({ telemetryFindPodsBehindNat }, { processors }) => {
      const { filter, pod_association: found } = processors['k8sattributes/claims'] as {
        filter: { fields: readonly { key: string }[] };
        pod_association: readonly { sources: readonly { name: string }[] }[];
      };
      expect(filter.fields.some(({ key }) => key === 'spec.hostNetwork')).toBe(!telemetryFindPodsBehindNat);
      expect(found.map(({ sources }) => sources.map(({ name }) => name).join(' '))).toEqual([
        'k8s.pod.uid k8s.namespace.name',
        'k8s.pod.name k8s.namespace.name',
        'k8s.pod.uid',
      ]);
    });
  });

  it('counts traces and logs of each workload, and knows the namespaces of tokens', () => {
    forAllSettings(({ telemetryCountsPort, tokenNamespaces: value }, { exporters, processors, service }) => {
      const counts = {
        endpoint: `127.0.0.1:${telemetryCountsPort}`,
        resource_to_telemetry_conversion: { enabled: true },
      };
      expect(exporters['prometheus/received']).toMatchObject(counts);
      const counted = ['traces', 'metrics', 'logs'].filter((signal) =>
        service.pipelines[`${signal}/shard/0`]?.exporters.includes('count/received'),
      );
      expect(counted).toEqual(['traces', 'logs']);
      expect(processors['resource/tokens']).toMatchObject({ attributes: [{ key: 'lumigo.tokens', value }] });
      const text = JSON.stringify(processors['transform/workload']).replaceAll('\\"', "'");
      for (const separator of ['/', '=']) expect(text).toContain(`attributes['lumigo.shard'], '${separator}', `);
    });
  });

  it('waits for what the API server tells about pods while it collects', () => {
    forAll((given, collected) => {
      const { processors } = render(given, withPort(collected));
      for (const finder of ['k8sattributes', 'k8sattributes/log-files'])
        expect(processors[finder]).toHaveProperty('wait_for_metadata', true);
    });
  });

  it('bounds its memory and its disk, and keeps the token of each request', () => {
    const sizes: Readonly<Record<string, number>> = { '1Mi': 1_048_576, '512Mi': 536_870_912, '1.5G': 1_500_000_000 };
    forAll((given, collected) => {
      const { receivers, processors, exporters, extensions } = render(given, withPort(collected));
      const { protocols } = receivers['otlp'] as { protocols: { grpc: object; http: object } };
      const keeping = { include_metadata: true, auth: { authenticator: 'bearertokenauth' } };
      const endpoint = (port: number) => expect.stringMatching(new RegExp(`:${port}$`));
      expect(protocols).toMatchObject({
        grpc: { ...keeping, endpoint: endpoint(given.otlpGrpcPort), max_concurrent_streams: 16 },
        http: { ...keeping, endpoint: endpoint(given.otlpHttpPort), read_header_timeout: '3s', read_timeout: '10s' },
      });
      expect(receivers['otlp/loop']).toMatchObject({
        protocols: { http: { include_metadata: true, max_request_body_size: 67_108_864 } },
      });
      const batch = { send_batch_size: 512, send_batch_max_size: 1_024, metadata_keys: ['authorization'] };
      expect(processors['batch']).toMatchObject({ ...batch, metadata_cardinality_limit: 10_000 });
      const queue = { queue_size: sizes[given.telemetryProxyQueueShardSize], num_consumers: 4 };
      expect(exporters['otlphttp/lumigo']).toMatchObject({ sending_queue: queue });
      expect(extensions['file_storage']).toMatchObject({ create_directory: true, recreate: true });
      for (const [name, each] of Object.entries(exporters)) {
        if (name.startsWith('otlphttp/to/'))
          expect(each).toMatchObject({ sending_queue: { queue_size: 4, num_consumers: 1, batch: { max_size: 100 } } });
        if (name.startsWith('otlphttp/nodes/')) expect(each).toMatchObject({ sending_queue: { enabled: false } });
      }
    });
  });

  it('names itself and the cluster in all data, by what it knows', () => {
    forAllSettings((given, { processors }) => {
      const { attributes } = processors['resource/operator'] as {
        attributes: readonly { key: string; value: string }[];
      };
      expect(Object.fromEntries(attributes.map(({ key, value }) => [key, value]))).toEqual({
        'lumigo.k8s_operator.version': given.version,
        'lumigo.k8s_operator.deployment_method': 'Manifests',
        ...(given.clusterName === '' ? {} : { 'k8s.cluster.name': given.clusterName }),
        ...(given.clusterUid === undefined ? {} : { 'k8s.cluster.uid': given.clusterUid }),
      });
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
