const container = (name: string) => ({
  name,
  image: `registry.example.com/shop/${name}:1.2.3`,
  ports: [{ containerPort: 8080, protocol: 'TCP' }],
  env: Array.from({ length: 12 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-${index}-of-${name}` })),
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
  livenessProbe: { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 },
  readinessProbe: { httpGet: { path: '/readyz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
});

/** A Deployment of an ordinary size. It grows with `noteLength`, in characters of an annotation. */
export function sampleDeployment(namespace: string, noteLength = 1_500) {
  const labels = { app: 'cart', team: 'shop', 'app.kubernetes.io/version': '1.2.3' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'cart', namespace, labels, annotations: { note: 'x'.repeat(noteLength) } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'cart' } },
      template: {
        metadata: { labels },
        spec: {
          containers: [container('cart'), container('proxy')],
          volumes: [{ name: 'config', configMap: { name: 'cart', defaultMode: 420 } }],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  };
}

/** Returns a review of about 5.3 KB, or more if it has a longer note. */
export function sampleReview(namespace: string, noteLength?: number): string {
  const resource = { group: 'apps', version: 'v1', resource: 'deployments' };
  const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: 'cart',
      namespace,
      operation: 'CREATE',
      userInfo: { username: 'admin', uid: '014fbff9a07c', groups: ['system:authenticated', 'team-shop'] },
      object: sampleDeployment(namespace, noteLength),
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  });
}
