import { freePorts, launch, type Launch, type Running } from './processes.ts';

export interface Host {
  readonly address: string;
  readonly serviceRange: string;
  /** The first address of the Service range, for the API server's Service. */
  readonly serviceAddress: string;
  readonly launch: (what: Launch) => Running;
  readonly ports: () => Promise<Ports>;
  readonly apiServerFlags: readonly string[];
  readonly controllerManagerFlags: readonly string[];
  /** Additional lines of the API server's token file. */
  readonly users: readonly string[];
}

export type Ports = Readonly<Record<'etcd' | 'etcdPeer' | 'api', number>>;

/** Each sends requests, so ReplicationControllers, finished Jobs, nodes, endpoints, certificates, autoscalers and the binding of volumes have none. */
const controllers = [
  ...['deployment', 'replicaset', 'statefulset', 'daemonset', 'job', 'cronjob', 'disruption'],
  ...['serviceaccount', 'serviceaccount-token', 'root-ca-certificate-publisher', 'clusterrole-aggregation'],
  ...['resourcequota', 'validatingadmissionpolicy-status'],
  ...['namespace', 'garbage-collector', 'pod-garbage-collector', 'persistentvolumeclaim-protection'],
];

export const loopback: Host = {
  address: '127.0.0.1',
  serviceRange: '10.96.0.0/16',
  serviceAddress: '10.96.0.1',
  launch,
  ports: async () => {
    const [etcd = 0, etcdPeer = 0, api = 0] = await freePorts(3);
    return { etcd, etcdPeer, api };
  },
  // Without a node, no program could reach the announced address.
  apiServerFlags: ['--endpoint-reconciler-type=none'],
  controllerManagerFlags: [`--controllers=${controllers.map((name) => `${name}-controller`).join()}`],
  users: [],
};
