import { freePorts, launch, type Launch, type Running } from './processes.ts';

/** Where a control plane runs: on this machine's loopback, or in the network of a node. */
export interface Host {
  /** What the API server binds to and is reached at. */
  readonly address: string;
  readonly serviceRange: string;
  /** The first address of that range: the API server's own Service. */
  readonly serviceAddress: string;
  readonly launch: (what: Launch) => Running;
  readonly ports: () => Promise<Ports>;
  /** Further flags by program. */
  readonly apiServerFlags: readonly string[];
  readonly controllerManagerFlags: readonly string[];
  /** Further lines of the API server's token file. */
  readonly users: readonly string[];
}

export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly api: number;
}

export const loopback: Host = {
  address: '127.0.0.1',
  serviceRange: '10.96.0.0/16',
  serviceAddress: '10.96.0.1',
  launch,
  ports: async () => {
    const [etcd = 0, etcdPeer = 0, api = 0] = await freePorts(3);
    return { etcd, etcdPeer, api };
  },
  // No node, so nobody could reach the address that it would announce.
  apiServerFlags: ['--endpoint-reconciler-type=none'],
  controllerManagerFlags: [],
  users: [],
};
