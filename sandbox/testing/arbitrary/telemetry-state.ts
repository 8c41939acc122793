import fc from 'fast-check';
import { runtimeConfig } from '../../../infra/constructs/runtime-environment.ts';
import { parseSettings } from '../../../infra/settings/settings.ts';
import { collectedKinds } from '../../../runtime/telemetry-proxy/render-collection.ts';
import type { Collection, ProxySettings, Sent } from '../../../runtime/telemetry-proxy/types.ts';

/** Any state of a manager. Some names are ones that YAML would read as other types. */

const always = {
  ...runtimeConfig(parseSettings({}), 'Manifests'),
  podName: 'pod',
  nodeMetrics: true,
  kubeStateMetrics: 'kube-state-metrics:8080',
  telemetryProxyDirectory: '/etc',
  telemetryProxyQueueDirectory: '/tmp',
};

const changing: fc.Arbitrary<Partial<ProxySettings>> = fc.record({
  version: fc.constantFrom('1.2.3', '0.1.0-rc.1'),
  tokenNamespaces: fc.constantFrom('', ';0f/shop;0f=shop;'),
  clusterName: fc.oneof(fc.constantFrom('', 'production', 'true', '1e3', '$HOME', 'a: b'), fc.string()),
  clusterUid: fc.option(fc.uuid(), { nil: undefined }),
  endpoint: fc.constantFrom('https://lumigo.example', 'http://127.0.0.1:4318/base'),
  logsEndpoint: fc.constantFrom('', 'https://logs.example'),
  metricsEndpoint: fc.constantFrom('', 'https://metrics.example'),
  logLevel: fc.constantFrom('info', 'debug'),
  listenAddress: fc.constantFrom('', '127.0.0.1', '::1'),
  metricsSecure: fc.boolean(),
  essentialOnly: fc.boolean(),
  metricsFrequency: fc.constantFrom('15s', '1m'),
  telemetryFindPodsBehindNat: fc.boolean(),
  telemetryNamespaceLabels: fc.constantFrom([], ['team', 'example.com/cost-center']),
  telemetryProxyQueueShardSize: fc.constantFrom('1Mi', '512Mi', '1.5G'),
  telemetryProxyCredentials: fc.constantFrom('serviceAccount', 'kubeConfig'),
});

export const settings: fc.Arbitrary<ProxySettings> = changing.map((changed) => ({ ...always, ...changed }));

const name = fc.oneof(
  fc.constantFrom('1e3', 'null', 'true', 'false', 'yes', 'no', '0', '0x10', '1-1', 'on', 'nan', 'default'),
  fc.constantFrom('loop', 'nodes', 'collected'),
  fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/),
);
const token = fc.stringMatching(/^t_[0-9a-f]{21}$/);

const sent = fc.subarray<Sent>(['events', 'logFiles', 'port'], { minLength: 1 });

/** At most one sender has the metrics of the cluster. */
const ofCluster = fc.constantFrom<readonly Sent[]>([], ['metrics'], ['metrics', 'kubeStateMetrics']);

/** Some of the namespaces share a token. */
export const collection: fc.Arbitrary<Collection> = fc
  .tuple(
    fc.uniqueArray(name, { maxLength: 12 }),
    fc.array(token, { minLength: 1, maxLength: 12 }),
    fc.nat(),
    fc.array(sent, { minLength: 1, maxLength: 5 }),
    ofCluster,
    fc.dictionary(fc.constantFrom(...collectedKinds.map(({ plural }) => plural)), fc.nat().map(String)),
  )
  .map(([names, tokens, initial, sends, cluster, since]) => ({
    namespaces: names.toSorted().map((each, index) => ({
      name: each,
      token: tokens[index % tokens.length] ?? '',
      lumigo: `uid of ${each}`,
      sends: [...(sends[index % sends.length] ?? []), ...(index === 0 ? cluster : [])],
    })),
    initial: names.slice(0, names.length === 0 ? 0 : initial % names.length),
    since,
    waitsForPods: true,
    key: 'key',
    nodeKey: 'node-key',
  }));
