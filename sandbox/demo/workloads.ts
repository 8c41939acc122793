import { labels, lumigo } from '../../runtime/contract.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';

/** The namespace of the demo, and what lives in it: a small shop. */
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

/** What the demo expects of a workload, so that `--once` can check it. */
export interface DemoWorkload {
  readonly manifest: Manifest;
  readonly expected: 'instrumented' | 'untouched';
  /** Whether it goes back to what it was when the Lumigo is deleted; a Job's template cannot. */
  readonly restored: boolean;
}

const deployment = (name: string, ownLabels: object = {}, pod: object = {}) =>
  object(
    'apps/v1 Deployment',
    name,
    { replicas: 2, selector: selector(name), template: template(name, pod) },
    ownLabels,
  );

/** There before the Lumigo: the reconciler's to instrument. */
export const existing: readonly DemoWorkload[] = [
  {
    manifest: deployment(
      'cart',
      {},
      {
        containers: [
          { ...container('cart', 'shop/cart:1.0'), env: [{ name: 'LD_PRELOAD', value: '/usr/lib/libjemalloc.so.2' }] },
        ],
      },
    ),
    expected: 'instrumented',
    restored: true,
  },
  {
    manifest: object('apps/v1 DaemonSet', 'log-shipper', {
      selector: selector('log-shipper'),
      template: template('log-shipper'),
    }),
    expected: 'instrumented',
    restored: true,
  },
  {
    manifest: object('apps/v1 StatefulSet', 'orders', {
      serviceName: 'orders',
      replicas: 1,
      selector: selector('orders'),
      template: template('orders'),
    }),
    expected: 'instrumented',
    restored: true,
  },
  {
    manifest: object('apps/v1 ReplicaSet', 'search', {
      replicas: 1,
      selector: selector('search'),
      template: template('search'),
    }),
    expected: 'instrumented',
    restored: true,
  },
  {
    manifest: object('batch/v1 CronJob', 'nightly-report', {
      schedule: '0 3 * * *',
      jobTemplate: { spec: job('nightly-report') },
    }),
    expected: 'instrumented',
    restored: true,
  },
  { manifest: object('batch/v1 Job', 'import', job('import')), expected: 'untouched', restored: true },
  { manifest: deployment('legacy', { [labels.autoTrace]: 'false' }), expected: 'untouched', restored: true },
];

/** Created once the Lumigo is active: the webhook's to instrument. */
export const later: readonly DemoWorkload[] = [
  { manifest: deployment('checkout'), expected: 'instrumented', restored: true },
  { manifest: object('batch/v1 Job', 'export', job('export')), expected: 'instrumented', restored: false },
];

export const namespace: Manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: demoNamespace } };

/** A token of the right shape that belongs to nobody. */
export const secret: Manifest = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'lumigo-credentials', namespace: demoNamespace },
  stringData: { token: `t_${'0123456789abcdef01234'}` },
};

export const demoLumigo: Manifest = {
  apiVersion: lumigo.apiVersion,
  kind: lumigo.kind,
  metadata: { name: 'lumigo', namespace: demoNamespace },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } } },
};
