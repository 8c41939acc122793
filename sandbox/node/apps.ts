import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';

export const nodeImage = 'sandbox.local/shop-node:1';
export const muslImage = 'sandbox.local/shop-musl:1';
export const pythonImage = 'sandbox.local/shop-python:1';

const restrictedPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
const restrictedContainer = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

export interface AppOptions {
  readonly image?: string;
  readonly replicas?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly env?: readonly object[];
  readonly resources?: object;
  readonly podSecurity?: object;
  readonly containerSecurity?: object;
  readonly pod?: object;
  readonly command?: readonly string[];
}

export function podTemplate(name: string, options: AppOptions = {}) {
  const { image = nodeImage, env = [], resources = {}, command } = options;
  return {
    metadata: { labels: { app: name } },
    spec: {
      terminationGracePeriodSeconds: 10,
      securityContext: { ...restrictedPod, ...options.podSecurity },
      containers: [
        {
          name: 'app',
          image,
          imagePullPolicy: 'IfNotPresent',
          ...(command === undefined
            ? {
                ports: [{ containerPort: 8080 }],
                // On a busy machine a program is slow, and stays ready.
                readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1, timeoutSeconds: 10 },
              }
            : { command }),
          env,
          resources,
          securityContext: { ...restrictedContainer, ...options.containerSecurity },
        },
      ],
      ...options.pod,
    },
  };
}

export function deployment(namespace: string, name: string, options: AppOptions = {}): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, labels: { app: name, ...options.labels } },
    spec: {
      replicas: options.replicas ?? 1,
      selector: { matchLabels: { app: name } },
      template: podTemplate(name, options),
    },
  };
}

export const pod = (namespace: string, name: string, options: AppOptions = {}): Manifest => {
  const { metadata, spec } = podTemplate(name, options);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace, name }, spec };
};

export const service = (namespace: string, name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
});

/** @param limits of each container: `min`, `max`, `default` … */
export const limitRange = (namespace: string, limits: object): Manifest => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { namespace, name: 'limits' },
  spec: { limits: [{ type: 'Container', ...limits }] },
});

export const restrictedNamespace = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
});
