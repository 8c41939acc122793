import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { apply } from '../manager/apply.ts';

export const dnsImage = 'sandbox.local/coredns:1';

const corefile = `.:53 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 5
  }
  cache 5
}
`;

const namespace = 'kube-system';
const name = 'coredns';
const labels = { 'k8s-app': 'kube-dns' };

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: name,
        dnsPolicy: 'Default',
        containers: [
          {
            name,
            image: dnsImage,
            args: ['-conf', '/etc/coredns/Corefile'],
            ports: [
              { containerPort: 53, protocol: 'UDP' },
              { containerPort: 53, protocol: 'TCP' },
            ],
            readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
            volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
          },
        ],
        volumes: [{ name: 'config', configMap: { name } }],
      },
    },
  },
};

export async function deployDns(client: Client, clusterIP: string): Promise<void> {
  const role = 'system:coredns';
  const rbac = 'rbac.authorization.k8s.io';
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: role },
      rules: [
        { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { Corefile: corefile } },
    deployment,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace, labels },
      spec: {
        clusterIP,
        selector: labels,
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      },
    },
  ];
  for (const object of objects) await apply(client, object);
}
