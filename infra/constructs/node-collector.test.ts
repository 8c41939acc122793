import { describe, expect, it } from '@jest/globals';
import { synthesize } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';
import type { Manifest } from './manifest.ts';

const logs = { logs: { enabled: true } };
const metrics = { metrics: { enabled: true } };
const all = { metrics: { enabled: true, essentialOnly: false } };
const rendered = (clusterCollection: object, more: object = {}) =>
  synthesize(parseSettings({ clusterCollection, ...more }));
const added = (clusterCollection: object, more: object = {}) => {
  const namesOf = (what: object) => rendered(what, more).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  const without = namesOf({});
  return namesOf(clusterCollection).filter((name) => !without.includes(name));
};
const find = (manifests: readonly Manifest[], kind: string, end = '') => {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name.endsWith(end));
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found as unknown as Found;
};

interface Found {
  readonly metadata: Manifest['metadata'];
  readonly spec: { readonly template: { readonly spec: Pod }; readonly ingress: readonly object[] };
  readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}
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
  readonly priorityClassName?: string;
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
    const pod = podOf(all);
    expect(foldersOf(pod)).toEqual(['/proc', '/sys']);
    expect(pod.containers[1]?.volumeMounts?.every(({ readOnly }) => readOnly)).toBe(true);
  });

  it('reads no metric of its own network, which would have the name of the node', () => {
    const ofNetwork = ['netdev', 'netstat', 'sockstat', 'udp_queues', 'arp', 'conntrack', 'ipvs', 'nfs', 'nfsd'];
    const without = ofNetwork.map((name) => `--no-collector.${name}`);
    expect(podOf(all).containers[1]?.args).toEqual(expect.arrayContaining(without));
  });

  it('may read metrics of the kubelet and nothing else', () => {
    const { rules } = find(rendered({ ...metrics, ...logs }), 'ClusterRole', '-node-collector');
    expect(rules).toEqual([{ apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] }]);
  });

  it('keeps positions and queue on the node, or with the pod if the setting is empty', () => {
    expect(foldersOf(podOf(logs))).toEqual(['/var/lib/lumigo-node-collector', '/var/log/pods']);
    expect(foldersOf(podOf(logs, { logFileCollector: { stateDirectory: '' } }))).toEqual(['/var/log/pods']);
  });

  it('runs on the nodes that the settings of the original choose', () => {
    const tolerations = { global: [{ operator: 'Exists' }], clusterAgent: [{ key: 'gpu' }] };
    const nodeSelector = { clusterAgent: { pool: 'apps' } };
    const pod = podOf(logs, { tolerations, nodeSelector });
    expect(pod.tolerations).toEqual([{ key: 'gpu' }]);
    expect(pod.nodeSelector).toEqual({ pool: 'apps' });
  });

  it('has the PriorityClass of its own setting, and by default none', () => {
    expect(podOf(logs, { priorityClassName: 'high' })).not.toHaveProperty('priorityClassName');
    const pod = podOf(metrics, { logFileCollector: { priorityClassName: 'of-agents' } });
    expect(pod.priorityClassName).toBe('of-agents');
  });

  it('alone reaches the port for nodes if there are network policies', () => {
    const made = rendered({ ...logs, ...metrics }, { networkPolicy: { enabled: true } });
    const from = [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'node-collector' } } }];
    const receiving = { ingress: [{ from, ports: [{ port: 4320 }] }] };
    expect(find(made, 'NetworkPolicy', '-node-data').spec).toMatchObject(receiving);
    const serving = { ingress: [{ ports: [{ port: 8888 }] }] };
    expect(find(made, 'NetworkPolicy', '-node-collector').spec).toMatchObject(serving);
  });
});

describe('kube-state-metrics', () => {
  const own = '-kube-state-metrics';
  const isOwn = (name: string) => name.endsWith(own);

  it('is installed once for metrics, unless the cluster has one or the setting says no', () => {
    expect(added(metrics).filter(isOwn)).toHaveLength(5);
    expect(added(metrics, { kubeStateMetrics: { install: false } }).filter(isOwn)).toEqual([]);
    expect(added(metrics, { kubeStateMetrics: { address: 'ksm.monitoring.svc:8080' } }).filter(isOwn)).toEqual([]);
  });

  it.each([
    ['the pods of the operator', {}, ['from', 'ports']],
    ['every address if these have the address of their node', { hostNetwork: true }, ['ports']],
  ])('is scraped from %s', (_from, more, fields) => {
    const made = rendered(metrics, { networkPolicy: { enabled: true }, ...more });
    const { ingress } = find(made, 'NetworkPolicy', own).spec;
    expect(ingress.map(Object.keys)).toEqual([fields]);
  });

  it('lists and watches the kinds that it reports, and no Secrets', () => {
    const made = rendered(metrics);
    const { rules } = find(made, 'ClusterRole', own);
    expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list', 'watch']));
    const kinds = rules.flatMap(({ resources }) => resources).toSorted();
    const [container] = find(made, 'Deployment', own).spec.template.spec.containers;
    expect(container?.args).toContain(`--resources=${kinds.join(',')}`);
    expect(kinds).not.toContain('secrets');
  });
});
