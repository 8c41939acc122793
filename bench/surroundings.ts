import { ensureBundle } from '../infra/release/bundle.ts';
import { startControlPlane, type ControlPlane } from '../sandbox/control-plane/control-plane.ts';
import { freePorts } from '../sandbox/control-plane/processes.ts';
import { install, type Installation } from '../sandbox/manager/install.ts';
import { startManager, type Manager } from '../sandbox/manager/manager.ts';
import { imageNode } from '../sandbox/node-runtime.ts';
import type { Progress } from '../sandbox/programs/progress.ts';
import { TestCluster } from '../sandbox/testing/test-cluster.ts';
import { measuredEventLoop } from './event-loop.ts';
import { forgetPeak, getUsage } from './process-usage.ts';

/** As in the pod, the heap has 60 % of the container's memory limit, which is 256 MiB (Dockerfile, infra/settings/schema.ts). */
export const asInThePod = {
  NODE_OPTIONS: '--max-old-space-size=154',
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

export interface Surroundings {
  readonly cluster: ControlPlane;
  readonly testCluster: TestCluster;
  readonly installation: Installation;
  readonly manager: Manager;
  readonly node: string;
  readonly say: Progress;
}

/** Runs API server, etcd, and a manager on the image's Node.js. There are no controllers, which would share the cores. */
export async function withSurroundings<T>(say: Progress, measure: (there: Surroundings) => Promise<T>): Promise<T> {
  await ensureBundle();
  const node = imageNode(say) ?? process.execPath;
  const cluster = await startControlPlane({ controllerManager: false, onProgress: say });
  try {
    const [webhookPort = 0] = await freePorts(1);
    const installation = await install(cluster.client, { webhook: webhookPort });
    const manager = await startManager(cluster, installation, {
      webhookPort,
      node,
      environment: {
        ...asInThePod,
        NODE_OPTIONS: `${asInThePod.NODE_OPTIONS} ${measuredEventLoop.option}`,
        BENCH_EVENT_LOOP: measuredEventLoop.file,
      },
    });
    try {
      return await measure({ cluster, testCluster: new TestCluster(cluster.client), installation, manager, node, say });
    } finally {
      await manager.stop();
    }
  } finally {
    await cluster.stop();
  }
}

export const countRequests = (manager: Manager): Promise<number> =>
  manager.metric('lumigo_operator_api_requests_total');

/** Returns the usage of a process during an action. The peak is that of this time. */
export async function during<T>(pid: number, action: () => Promise<T>) {
  forgetPeak(pid);
  const before = getUsage(pid);
  const result = await action();
  const after = getUsage(pid);
  return { result, cpuSeconds: after.cpuSeconds - before.cpuSeconds, after };
}
