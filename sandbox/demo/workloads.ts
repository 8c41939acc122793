import { labels } from '../../runtime/contract.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { renderTracedNamespace } from '../../infra/constructs/traced-namespace.ts';
import { getSecret } from '../lumigo.ts';
import { validToken } from '../testing/test-cluster.ts';

export const demoNamespace = 'lumigo-demo';

const container = (name: string, image: string) => ({ name, image, ports: [{ containerPort: 8080 }] });

const template = (app: string, spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [container(app, `shop/${app}:1.0`)], ...spec },
});

const object = (type: string, name: string, spec: object, ownLabels: object = {}): Manifest => {
  const [apiVersion = '', kind = ''] = type.split(' ');
  return { apiVersion, kind, metadata: { name, namespace: demoNamespace, labels: { app: name, ...ownLabels } }, spec };
};

const selector = (app: string) => ({ matchLabels: { app } });

const job = (name: string) => ({ template: template(name, { restartPolicy: 'Never' }) });

export interface DemoWorkload {
  readonly manifest: Manifest;
  readonly expected: 'instrumented' | 'untouched';
  /** False for a Job, whose template cannot change. */
  readonly restored: boolean;
}

const deployment = (name: string, ownLabels: object = {}, pod: object = {}): Manifest => {
  const spec = { replicas: 2, selector: selector(name), template: template(name, pod) };
  return object('apps/v1 Deployment', name, spec, ownLabels);
};

const instrumented = (manifest: Manifest): DemoWorkload => ({ manifest, expected: 'instrumented', restored: true });
const untouched = (manifest: Manifest): DemoWorkload => ({ manifest, expected: 'untouched', restored: true });

const selected = (app: string) => ({ selector: selector(app), template: template(app) });

const preloading = {
  ...container('cart', 'shop/cart:1.0'),
  env: [{ name: 'LD_PRELOAD', value: '/usr/lib/libjemalloc.so.2' }],
};

/** These workloads exist before the `Lumigo`, so the reconciler instruments them. */
export const existing: readonly DemoWorkload[] = [
  instrumented(deployment('cart', {}, { containers: [preloading] })),
  instrumented(object('apps/v1 DaemonSet', 'log-shipper', selected('log-shipper'))),
  instrumented(object('apps/v1 StatefulSet', 'orders', { serviceName: 'orders', replicas: 1, ...selected('orders') })),
  instrumented(object('apps/v1 ReplicaSet', 'search', { replicas: 1, ...selected('search') })),
  instrumented(
    object('batch/v1 CronJob', 'nightly-report', {
      schedule: '0 3 * * *',
      jobTemplate: { spec: job('nightly-report') },
    }),
  ),
  untouched(object('batch/v1 Job', 'import', job('import'))),
  untouched(deployment('legacy', { [labels.autoTrace]: 'false' })),
];

/** These workloads are created later, so the webhook instruments them. */
export const later: readonly DemoWorkload[] = [
  instrumented(deployment('checkout')),
  { ...instrumented(object('batch/v1 Job', 'export', job('export'))), restored: false },
];

export const [namespace, demoLumigo] = renderTracedNamespace({ namespace: demoNamespace }) as [Manifest, Manifest];

export const secret = getSecret(demoNamespace, validToken);
