import { signals } from '../contract.ts';
import {
  believeClaims,
  disproveClaims,
  nameWorkload,
  restoreClaims,
  setClaimsAside,
  toClaimedPods,
  TOKENS,
} from './render-claims.ts';
import { hashToken, intoShard, oneToken } from './render-shards.ts';
import type { Components, ProxySettings } from './types.ts';

/** A sender could learn about the workload of another pod by what it claims. */
const byAddress = { pod_association: [{ sources: [{ from: 'connection' }] }] };

const serviceAttributes = ['service.name', 'service.namespace', 'service.version', 'service.instance.id'];

export const podAttributes = [
  ...['k8s.namespace.name', 'k8s.pod.name', 'k8s.pod.uid', 'k8s.pod.start_time', 'k8s.node.name'],
  ...['deployment', 'replicaset', 'statefulset', 'daemonset', 'cronjob', 'job'].flatMap((owner) => [
    `k8s.${owner}.name`,
    `k8s.${owner}.uid`,
  ]),
  ...serviceAttributes,
];

/** A pod's annotation `resource.opentelemetry.io/NAME` sets an attribute. */
const prefix = 'resource.opentelemetry.io/';
/** The other attributes have this prefix until they are bounded. */
const annotated = 'lumigo.annotation.';

const annotations = [
  { key_regex: `${escape(prefix)}(.+)`, tag_name: `${annotated}$1`, from: 'pod' },
  ...serviceAttributes.map((name) => ({ key: prefix + name, tag_name: name, from: 'pod' })),
];

/** The name is that of OpenTelemetry's conventions. Kubernetes bounds the values to 63 characters. */
const toAttribute = (key: string) => ({ key, tag_name: `k8s.namespace.label.${key}`, from: 'namespace' });

/** Each request gets these attributes, so a few large annotations would fill the memory. */
const MAX_ANNOTATIONS = 32;
const MAX_CHARACTERS = 256;

/** No annotation replaces an attribute of the program, or what the telemetry proxy itself knows of the pod. */
const boundAnnotations = [
  'merge_maps(cache, attributes, "upsert")',
  `keep_matching_keys(cache, "^${escape(annotated)}")`,
  `delete_matching_keys(cache, "^${escape(annotated)}(k8s|lumigo)${escape('.')}")`,
  `limit(cache, ${MAX_ANNOTATIONS}, [])`,
  `truncate_all(cache, ${MAX_CHARACTERS})`,
  `replace_all_patterns(cache, "key", "^${escape(annotated)}", "")`,
  `delete_matching_keys(attributes, "^${escape(annotated)}")`,
  'merge_maps(attributes, cache, "insert")',
  ...serviceAttributes.map((name) => {
    const value = `attributes["${name}"]`;
    const isLong = `IsString(${value}) and Len(${value}) > ${MAX_CHARACTERS}`;
    return `set(${value}, Substring(${value}, 0, ${MAX_CHARACTERS})) where ${isLong}`;
  }),
];

/** The name that SDKs give to unnamed programs would prevent the name of the workload. */
const removeUnnamed = [
  'delete_key(attributes, "service.name") where IsMatch(attributes["service.name"], "^unknown_service")',
];

/** The processors that add attributes, in their order. An attribute that a program sets itself stays. */
export function renderAttributes(settings: ProxySettings, isWaiting: boolean): Components {
  const labels = settings.telemetryNamespaceLabels.map(toAttribute);
  const find = (pods: object) => ({
    auth_type: settings.telemetryProxyCredentials,
    extract: { metadata: podAttributes, annotations, labels },
    ...pods,
  });
  // A replica that collects has just reached the API server, so this wait is short. The other processor starts before it.
  const wait = isWaiting ? { wait_for_metadata: true, wait_for_metadata_timeout: '10s' } : {};
  return {
    'transform/service': transform([...removeUnnamed, ...setClaimsAside]),
    [intoShard]: hashToken,
    'filter/one-token': oneToken,
    k8sattributes: find({ ...byAddress, ...wait }),
    // In the text of a statement, the collector would need minutes to parse it.
    'resource/tokens': { attributes: [{ key: TOKENS, action: 'upsert', value: settings.tokenNamespaces ?? '' }] },
    'transform/claims': transform(believeClaims),
    'k8sattributes/claims': find(toClaimedPods(settings)),
    'transform/annotations': transform([...disproveClaims, ...nameWorkload, ...restoreClaims, ...boundAnnotations]),
  };
}

function transform(statements: readonly string[]): object {
  const ofResources = [{ context: 'resource', statements }];
  const singular = { traces: 'trace', logs: 'log', metrics: 'metric' } as const;
  return {
    error_mode: 'ignore',
    ...Object.fromEntries(signals.map((signal) => [`${singular[signal]}_statements`, ofResources])),
  };
}

/** A dot of a name is no wildcard, in a regular expression that is in a text of the collector's language. */
function escape(name: string): string {
  return name.replaceAll('.', '[.]');
}
