import { join } from 'node:path';
import type { Host, Ports } from './host.ts';

export interface Addresses {
  readonly folder: string;
  readonly ports: Ports;
  readonly host: Host;
  /** The port for the API server, which may be that of a proxy. */
  readonly etcdPort: number;
}

const getFlags = (flags: Readonly<Record<string, string | number | boolean>>): string[] =>
  Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);

export const etcdData = (folder: string): string => join(folder, 'etcd');

/** The etcd need not survive a power cut. It reports progress at the interval of kubeadm, because API servers derive bookmarks from it. */
export const etcdFlags = ({ folder, ports }: Addresses): string[] =>
  getFlags({
    'data-dir': etcdData(folder),
    'listen-client-urls': `http://127.0.0.1:${ports.etcd}`,
    'advertise-client-urls': `http://127.0.0.1:${ports.etcd}`,
    'listen-peer-urls': `http://127.0.0.1:${ports.etcdPeer}`,
    'unsafe-no-fsync': true,
    'watch-progress-notify-interval': '5s',
    'log-level': 'warn',
  });

/** OpenShift's check is enabled as well: an owner reference requires permission to delete and to block the owner. */
export const apiServerFlags = ({ folder, ports, host, etcdPort }: Addresses, audit: boolean): string[] => [
  ...getFlags({
    'etcd-servers': `http://127.0.0.1:${etcdPort}`,
    'bind-address': host.address,
    'advertise-address': host.address,
    'secure-port': ports.api,
    'tls-cert-file': join(folder, 'apiserver.crt'),
    'tls-private-key-file': join(folder, 'apiserver.key'),
    'token-auth-file': join(folder, 'tokens.csv'),
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'OwnerReferencesPermissionEnforcement',
    'client-ca-file': join(folder, 'ca.crt'),
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': join(folder, 'service-account.pub'),
    'service-account-signing-key-file': join(folder, 'service-account.key'),
    'service-cluster-ip-range': host.serviceRange,
    'allow-privileged': true,
    ...(audit
      ? {
          'audit-policy-file': join(folder, 'audit-policy.yaml'),
          'audit-log-path': join(folder, 'audit.log'),
          'audit-log-mode': 'blocking',
        }
      : {}),
  }),
  ...host.apiServerFlags,
];

/** Client limits are lifted, because there are no other clients to protect. */
export const controllerManagerFlags = ({ folder, host }: Addresses): string[] => [
  ...getFlags({
    kubeconfig: join(folder, 'kubeconfig'),
    'leader-elect': false,
    'secure-port': 0,
    'use-service-account-credentials': true,
    'service-account-private-key-file': join(folder, 'service-account.key'),
    'root-ca-file': join(folder, 'ca.crt'),
    'kube-api-qps': 1000,
    'kube-api-burst': 2000,
  }),
  ...host.controllerManagerFlags,
];

export const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
`;
