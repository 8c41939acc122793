import { lumigo } from '../../runtime/contract.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { isInstrumented } from '../lumigo.ts';
import { startInstalled } from './installed-cluster.ts';
import type { TestCluster } from './test-cluster.ts';
import { eventually } from './eventually.ts';
import { getPod } from './workloads.ts';

/** An installation with Pod mode but without an operator: the API server alone injects. */
export type PodModeCluster = Awaited<ReturnType<typeof startPodMode>>;

export const podMode = { tracing: { injection: { mode: 'Pod' } } };

export async function startPodMode(injection: object = {}) {
  const installed = await startInstalled({ injection: { podMode: true, ...injection } });
  const { testCluster, injector } = installed;
  return {
    ...installed,
    injector: { ...injector, platform: 'kubernetes' } as const,
    dryRun: (pod: Workload, namespace: string): Promise<Workload> =>
      testCluster.dryRun({ ...pod, metadata: { ...pod.metadata, namespace } } as Manifest),
  };
}

export function setActive(on: TestCluster, namespace: string, status: 'True' | 'False' = 'True', name = 'lumigo') {
  const cause = { reason: 'Test', message: 'Set by a test.', lastTransitionTime: new Date(0).toISOString() };
  return on.setStatus({ ...lumigo, namespace, name }, { conditions: [{ type: 'Active', status, ...cause }] });
}

const WAIT = { timeoutMs: 60_000 };

/** Resolves when the API server injects the pods of a namespace, or no longer does. It learns the kind of a parameter within 30 s. */
export const waitForInjectedPods = (
  testCluster: TestCluster,
  namespace: string,
  expected = true,
  probe: Manifest = getPod(namespace, 'probe', { app: 'probe' }),
): Promise<void> =>
  eventually(async () => {
    if (isInstrumented(await testCluster.dryRun(probe)) !== expected)
      throw new Error(`pods of ${namespace} are ${expected ? 'not' : 'still'} injected`);
  }, WAIT);

export async function tracedNamespace(on: PodModeCluster, spec: object = podMode, metadata: object = {}) {
  const namespace = await on.testCluster.namespaceForPods('traced', metadata);
  await on.testCluster.lumigo(namespace, spec);
  await setActive(on.testCluster, namespace);
  await waitForInjectedPods(on.testCluster, namespace);
  return namespace;
}
