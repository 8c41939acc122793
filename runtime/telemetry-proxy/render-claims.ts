import type { ProxySettings } from './types.ts';

/** The workload that sent the data, as the telemetry proxy itself found it: `NAMESPACE/KIND/NAME`. */
export const WORKLOAD = 'lumigo.k8s_operator.workload';
/** The hash of the Authorization header. */
export const TOKEN_HASH = 'lumigo.shard';
/** Set if a request has several such headers: the collector accepts it by the first, and joins them by `;`. */
export const SEVERAL = 'lumigo_several';
/** The namespaces of all accepted tokens (tokens.ts). */
export const TOKENS = 'lumigo.tokens';
/** The attributes from before a claim was believed. */
const BEFORE_CLAIM = 'lumigo.before_claim';

/** The owners of a pod by the names of their attributes. A later one replaces an earlier one. */
const owners = ['ReplicaSet', 'Job', 'DaemonSet', 'StatefulSet', 'Deployment', 'CronJob'] as const;
const nameKey = (owner: string): string => `k8s.${owner.toLowerCase()}.name`;
export const ownerKeys = owners.flatMap((owner) => [nameKey(owner), `k8s.${owner.toLowerCase()}.uid`]);
const NAMESPACE = 'k8s.namespace.name';
const podKeys = ['k8s.pod.uid', 'k8s.pod.name'];
const proving = [NAMESPACE, ...podKeys, ...owners.map(nameKey)];

const at = (key: string): string => `attributes["${key}"]`;
const claimed = (key: string): string => `lumigo.claimed.${key}`;
const escape = (key: string): string => key.replaceAll('.', '[.]');
/** A hostile sender may repeat an attribute, and `delete_key` would remove only the first. */
const remove = (pattern: string): string => `delete_matching_keys(attributes, "^${pattern}$")`;
const copy = (from: string, to: string, condition: string): string => `set(${at(to)}, ${at(from)}) where ${condition}`;
const move = (from: string, to: string): string[] => [copy(from, to, `${at(from)} != nil`), remove(escape(from))];

/** Bytes. No object has a longer name, but a pod may name such an owner. Statements would copy it for each resource. */
const MAX_NAME = 253;

/** These statements directly follow each processor that finds pods. */
export const removeLong: readonly string[] = [...ownerKeys, 'service.name'].map(
  (key) => `${remove(escape(key))} where IsString(${at(key)}) and Len(${at(key)}) > ${MAX_NAME}`,
);

/** The proxy adds no attribute that a sender sets itself. So the claims are set aside before, and restored afterwards. */
export const setClaimsAside: readonly string[] = [
  remove(`(${[WORKLOAD, TOKEN_HASH, SEVERAL, TOKENS, BEFORE_CLAIM].map(escape).join('|')}|${escape(claimed(''))}.*)`),
  ...proving.flatMap((key) => move(key, claimed(key))),
];

const isUnknown = `${at(NAMESPACE)} == nil and (${podKeys.map((key) => `${at(claimed(key))} != nil`).join(' or ')})`;
const isBelieved = `${at(BEFORE_CLAIM)} != nil`;

/** If the address identifies no pod, the pod that the sender names is looked for. Only text is an identifier. */
export const believeClaims: readonly string[] = [
  `merge_maps(cache, attributes, "upsert") where ${isUnknown}`,
  `set(${at(BEFORE_CLAIM)}, cache) where ${isUnknown}`,
  ...[NAMESPACE, ...podKeys].map((key) => copy(claimed(key), key, `${isBelieved} and IsString(${at(claimed(key))})`)),
];

/** Pods that run nowhere send nothing. Any number of them could wait for a node, and would fill the memory. */
export const onNode = { key: 'spec.nodeName', op: 'not-equals', value: '' };
const onNetworkOfNode = { key: 'spec.hostNetwork', op: 'equals', value: 'true' };

/** By default only pods without an address of their own. To keep all pods once more needs 26 KB for each of them (ADR 48). */
export const toClaimedPods = ({ telemetryFindPodsBehindNat }: Pick<ProxySettings, 'telemetryFindPodsBehindNat'>) => ({
  filter: { fields: [onNode, ...(telemetryFindPodsBehindNat ? [] : [onNetworkOfNode])] },
  pod_association: [...podKeys.map((key) => [key, NAMESPACE]), ['k8s.pod.uid']].map((keys) => ({
    sources: keys.map((name) => ({ from: 'resource_attribute', name })),
  })),
});

const isListed = (separator: string): string =>
  `Index(${at(TOKENS)}, Concat([";", ${at(TOKEN_HASH)}, "${separator}", ${at(NAMESPACE)}, ";"], "")) >= 0`;

/** A pod that is not in a namespace of the sender's token leaves no trace. */
export const disproveClaims: readonly string[] = [
  `merge_maps(cache, ${at(BEFORE_CLAIM)}, "upsert") where ${isBelieved} and not ${isListed('/')}`,
  'set(attributes, cache) where Len(cache) > 0',
];

/** A token of several namespaces does not prove which of them the sender is in. */
export const nameWorkload: readonly string[] = owners.map(
  (owner) =>
    `set(${at(WORKLOAD)}, Concat([${at(NAMESPACE)}, "${owner}", ${at(nameKey(owner))}], "/")) ` +
    `where ${at(nameKey(owner))} != nil and (${at(BEFORE_CLAIM)} == nil or ${isListed('=')})`,
);

export const restoreClaims: readonly string[] = [
  remove(`(${[TOKENS, BEFORE_CLAIM].map(escape).join('|')})`),
  ...proving.flatMap((key) => move(claimed(key), key)),
];
