import { describe, expect, it } from '@jest/globals';
import { synthesize } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';
import type { Manifest } from './manifest.ts';

const logs = { logs: { enabled: true } };
const metrics = { metrics: { enabled: true } };
const rendered = (clusterCollection: object, more: object = {}) =>
  synthesize(parseSettings({ clusterCollection, ...more }));
const namesOf = (manifests: readonly Manifest[]) => manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
const added = (clusterCollection: object, more: object = {}) => {
  const without = new Set(namesOf(rendered({}, more)));
  return namesOf(rendered(clusterCollection, more)).filter((name) => !without.has(name));
};
const find = (manifests: readonly Manifest[], kind: string) => {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found as unknown as { metadata: Manifest['metadata']; spec: { template: { spec: Pod } }; rules: unknown };
};

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly securityContext: object;
  readonly volumeMounts?: readonly { readonly name: string; readonly readOnly?: boolean }[];
}
interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly hostNetwork?: boolean;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
  readonly tolerations?: readonly object[];
  readonly nodeSelector?: object;
}
const podOf = (clusterCollection: object, more: object = {}) =>
  find(rendered(clusterCollection, more), 'DaemonSet').spec.template.spec;
const foldersOf = ({ volumes }: Pod) => volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);

describe('the node collector', () => {
  it('has no object, no rights and no port unless a setting asks for it', () => {
    const made = rendered({}, { networkPolicy: { enabled: true } });
    // The guard names the Secret that the operator may create.
    const text = JSON.stringify(made.filter(({ kind }) => kind !== 'ValidatingAdmissionPolicy'));
    for (const word of ['node-collector', 'node-data', 'kube-state-metrics-', 'nodes/metrics', 'hostPath'])
      expect(text).not.toContain(word);
  });

  it('is one DaemonSet with an account, and Services for its data and its metrics', () => {
    expect(added(logs)).toEqual([
      'ServiceAccount/lumigo-lumigo-operator-node-collector',
      'DaemonSet/lumigo-lumigo-operator-node-collector',
      'Service/lumigo-lumigo-operator-node-data',
      'Service/lumigo-lumigo-operator-node-collector',
    ]);
  });

  it('reads log files as root, without a capability, a token or a writable folder other than its own', () => {
    const { containers, automountServiceAccountToken, volumes, ...pod } = podOf(logs);
    expect(containers).toHaveLength(1);
    expect(containers[0]?.securityContext).toMatchObject({
      runAsUser: 0,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(automountServiceAccountToken).toBe(false);
    expect(pod.hostNetwork).toBeUndefined();
    const onNode = new Set(volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name));
    const written = containers[0]?.volumeMounts?.filter(({ name, readOnly }) => onNode.has(name) && readOnly !== true);
    expect(written?.map(({ name }) => name)).toEqual(['state']);
    expect(containers[0]?.volumeMounts?.map(({ name }) => name)).not.toContain('account');
  });

  const all = { metrics: { enabled: true, essentialOnly: false } };
  it.each([logs, metrics, all, { ...logs, ...metrics }, { ...logs, ...all }])(
    'mounts volumes of its pod: %j',
    (what) => {
      const { containers, volumes } = podOf(what);
      const mounted = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
      // A volume that no container mounts is the account without metrics.
      expect(volumes.map(({ name }) => name)).toEqual(expect.arrayContaining(mounted.map(({ name }) => name)));
      expect(new Set(mounted.flatMap(Object.keys))).toEqual(new Set(['name', 'mountPath', 'readOnly']));
    },
  );

  it('reads essential metrics without root and without any folder of the node', () => {
    const pod = podOf(metrics);
    expect(foldersOf(pod)).toEqual([]);
    expect(pod.containers.map(({ name }) => name)).toEqual(['collector', 'node-exporter']);
    expect(pod.automountServiceAccountToken).toBe(false);
    const hasToken = pod.containers.map(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === 'account'));
    expect(hasToken).toEqual([true, undefined]);
    expect(JSON.stringify(pod.containers)).not.toContain('runAsUser');
    expect(find(rendered(metrics), 'Namespace').metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
  });

  it('reads all metrics from two folders of the node, which it cannot change', () => {
    const pod = podOf({ metrics: { enabled: true, essentialOnly: false } });
    expect(foldersOf(pod)).toEqual(['/proc', '/sys']);
    expect(pod.containers[1]?.volumeMounts?.every(({ readOnly }) => readOnly)).toBe(true);
  });

  it('reads no metric of its own network, which would have the name of the node', () => {
    const { args } = podOf({ metrics: { enabled: true, essentialOnly: false } }).containers[1] ?? { args: [] };
    const ofNetwork = ['netdev', 'netstat', 'sockstat', 'udp_queues', 'arp', 'conntrack', 'ipvs', 'nfs', 'nfsd'];
    expect(args).toEqual(expect.arrayContaining(ofNetwork.map((name) => `--no-collector.${name}`)));
  });

  it('may read metrics of the kubelet and nothing else', () => {
    const roles = rendered({ ...metrics, ...logs }).filter(({ kind }) => kind === 'ClusterRole');
    const role = roles.find(({ metadata }) => metadata.name.endsWith('-node-collector'));
    expect(role?.['rules']).toEqual([{ apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] }]);
  });

  it('keeps positions and queue on the node, or with the pod if the setting is empty', () => {
    expect(foldersOf(podOf(logs))).toEqual(['/var/lib/lumigo-node-collector', '/var/log/pods']);
    expect(foldersOf(podOf(logs, { logFileCollector: { stateDirectory: '' } }))).toEqual(['/var/log/pods']);
  });

  it('runs on the nodes that the settings of the original choose', () => {
    const tolerations = { global: [{ operator: 'Exists' }], clusterAgent: [{ key: 'gpu' }] };
    const nodeSelector = { clusterAgent: { pool: 'apps' } };
    const pod = podOf(logs, { tolerations, nodeSelector, affinity: { podAffinity: {} } });
    expect(pod.tolerations).toEqual([{ key: 'gpu' }]);
    expect(pod.nodeSelector).toEqual({ pool: 'apps' });
    expect(JSON.stringify(pod)).not.toContain('podAffinity');
  });

  it('alone reaches the port for nodes if there are network policies', () => {
    const policies = rendered({ ...logs, ...metrics }, { networkPolicy: { enabled: true } }).filter(
      ({ kind }) => kind === 'NetworkPolicy',
    );
    const receiving = policies.find(({ metadata }) => metadata.name.endsWith('-node-data'));
    expect(receiving?.['spec']).toMatchObject({
      ingress: [
        {
          from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'node-collector' } } }],
          ports: [{ port: 4320 }],
        },
      ],
    });
    const serving = policies.find(({ metadata }) => metadata.name.endsWith('-node-collector'));
    expect(serving?.['spec']).toMatchObject({ ingress: [{ ports: [{ port: 8888 }] }] });
  });
});

describe('kube-state-metrics', () => {
  const isOf = (name: string) => name.endsWith('-kube-state-metrics');

  it('is installed once for metrics, unless the cluster has one or the setting says no', () => {
    expect(added(metrics).filter(isOf)).toHaveLength(5);
    expect(added(metrics, { kubeStateMetrics: { install: false } }).filter(isOf)).toEqual([]);
    expect(added(metrics, { kubeStateMetrics: { address: 'ksm.monitoring.svc:8080' } }).filter(isOf)).toEqual([]);
  });

  it.each([
    ['the pods of the operator', {}, true],
    ['every address if these have the address of their node', { hostNetwork: true }, false],
  ])('is scraped from %s', (_from, more, isByPods) => {
    const manifests = rendered(metrics, { networkPolicy: { enabled: true }, ...more });
    const policy = manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && isOf(metadata.name));
    const { ingress } = policy?.['spec'] as { ingress: readonly { from?: unknown; ports: unknown }[] };
    expect(ingress.map(({ from, ports }) => [from !== undefined, ports !== undefined])).toEqual([[isByPods, true]]);
  });

  it('lists and watches the kinds that it reports, and no Secrets', () => {
    const manifests = rendered(metrics);
    const role = manifests.find(({ kind, metadata }) => kind === 'ClusterRole' && isOf(metadata.name));
    const rules = role?.['rules'] as readonly { resources: readonly string[]; verbs: readonly string[] }[];
    expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list', 'watch']));
    const deployment = manifests.find(({ kind, metadata }) => kind === 'Deployment' && isOf(metadata.name));
    const { containers } = (deployment?.['spec'] as { template: { spec: Pod } }).template.spec;
    const kinds = rules.flatMap(({ resources }) => resources).toSorted();
    expect(containers[0]?.args).toContain(`--resources=${kinds.join(',')}`);
    expect(kinds).not.toContain('secrets');
  });
});
