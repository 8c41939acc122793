import {
  believeClaims,
  disproveClaims,
  nameWorkload,
  onNode,
  ownerKeys,
  removeLong,
  restoreClaims,
  setClaimsAside,
  toClaimedPods,
  TOKENS,
} from './render-claims.ts';
import { hashToken, intoShard, oneToken } from './render-shards.ts';
import type { Components, ProxySettings } from './types.ts';

/** A sender could learn about the workload of another pod by what it claims. */
const byAddress = {
  filter: { fields: [onNode, { key: 'status.podIP', op: 'not-equals', value: '' }] },
  pod_association: [{ sources: [{ from: 'connection' }] }],
};

export const podAttributes = [
  ...['k8s.namespace.name', 'k8s.pod.name', 'k8s.pod.uid', 'k8s.pod.start_time', 'k8s.node.name'],
  ...ownerKeys,
  ...['service.name', 'service.namespace', 'service.version', 'service.instance.id'],
];

/** A collector that waits longer hangs. Then the next one does not wait (reloader.ts). */
export const waitForPods = (waits: boolean): object =>
  waits ? { wait_for_metadata: true, wait_for_metadata_timeout: '10s' } : {};
/** The name that SDKs give to unnamed programs would prevent the name of the workload. */
const removeUnnamed =
  'delete_key(attributes, "service.name") where IsMatch(attributes["service.name"], "^unknown_service")';

/** The processors that add attributes, in their order. An attribute that a program sets itself stays. */
export function renderAttributes(settings: ProxySettings, waits: boolean): Components {
  // The name is that of OpenTelemetry's conventions. Kubernetes bounds the values to 63 characters.
  const toAttribute = (key: string) => ({ key, tag_name: `k8s.namespace.label.${key}`, from: 'namespace' });
  const labels = settings.telemetryNamespaceLabels.map(toAttribute);
  const find = (pods: object) => ({
    auth_type: settings.telemetryProxyCredentials,
    extract: { metadata: podAttributes, labels },
    ...pods,
  });
  return {
    'transform/service': transform([removeUnnamed, ...setClaimsAside]),
    [intoShard]: hashToken,
    'filter/one-token': oneToken,
    // The processor of claims starts before it.
    k8sattributes: find({ ...byAddress, ...waitForPods(waits) }),
    // In the text of a statement, the collector would need minutes to parse it.
    'resource/tokens': { attributes: [{ key: TOKENS, action: 'upsert', value: settings.tokenNamespaces ?? '' }] },
    'transform/claims': transform([...removeLong, ...believeClaims]),
    'k8sattributes/claims': find(toClaimedPods(settings)),
    'transform/workload': transform([...removeLong, ...disproveClaims, ...nameWorkload, ...restoreClaims]),
  };
}

export function transform(statements: readonly string[]): object {
  const ofResources = [{ context: 'resource', statements }];
  return {
    error_mode: 'ignore',
    trace_statements: ofResources,
    log_statements: ofResources,
    metric_statements: ofResources,
  };
}
