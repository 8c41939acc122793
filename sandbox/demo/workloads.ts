import { labels, workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { renderTracedNamespace } from '../../infra/constructs/traced-namespace.ts';
import { getSecret } from '../lumigo.ts';
import { validToken } from '../testing/test-cluster.ts';
import { createWorkload, withReplicas, type WorkloadOptions } from '../testing/workloads.ts';

export const demoNamespace = 'lumigo-demo';

const { cronJob, daemonSet, deployment, job, replicaSet, statefulSet } = workloadKinds;

export interface DemoWorkload {
  readonly manifest: Manifest;
  readonly expected: 'instrumented' | 'untouched';
}

const create = (kind: WorkloadKind, name: string, options?: WorkloadOptions): Manifest =>
  withReplicas(kind, createWorkload(kind, demoNamespace, name, options));

const instrumented = (manifest: Manifest): DemoWorkload => ({ manifest, expected: 'instrumented' });
const untouched = (manifest: Manifest): DemoWorkload => ({ manifest, expected: 'untouched' });

const preload = { name: 'LD_PRELOAD', value: '/usr/lib/libjemalloc.so.2' };

/** These workloads exist before the `Lumigo`, so the reconciler instruments them. */
export const existing: readonly DemoWorkload[] = [
  instrumented(create(deployment, 'cart', { env: [preload] })),
  instrumented(create(daemonSet, 'log-shipper')),
  instrumented(create(statefulSet, 'orders')),
  instrumented(create(replicaSet, 'search')),
  instrumented(create(cronJob, 'nightly-report')),
  untouched(create(job, 'import')),
  untouched(create(deployment, 'legacy', { labels: { [labels.autoTrace]: 'false' } })),
];

/** These workloads are created later, so the webhook instruments them. */
export const later: readonly DemoWorkload[] = [
  instrumented(create(deployment, 'checkout')),
  instrumented(create(job, 'export')),
];

export const [namespace, demoLumigo] = renderTracedNamespace({ namespace: demoNamespace }) as [Manifest, Manifest];

export const secret = getSecret(demoNamespace, validToken);
