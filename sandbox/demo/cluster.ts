import { OtlpSink } from '../otlp-sink/sink.ts';
import { ensureBinaries, isBuilt } from '../programs/build.ts';
import { NoGoError } from '../programs/go.ts';
import type { Progress } from '../programs/progress.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { addOperator } from '../manager/manager.ts';
import { stopOnError } from '../stop-on-error.ts';

export type DemoCluster = Awaited<ReturnType<typeof throwawayCluster>>;

export async function throwawayCluster(progress: Progress) {
  const controllerManager = isBuilt('kube-controller-manager');
  const collector = isBuilt('otelcol');
  const sink = await OtlpSink.start();
  const cluster = await startControlPlane({ controllerManager, onProgress: progress });
  const stop = async () => {
    await cluster.stop();
    await sink.close();
  };
  const config = { endpoint: sink.url };
  const manager = await stopOnError({ stop }, () => addOperator(cluster, { collector, config }));
  const joinCollector = async () => {
    await ensureBinaries(['otelcol'], progress);
    await manager.joinCollector();
    progress('the telemetry proxy runs and collects Kubernetes events and objects from now on');
  };
  const join = async () => {
    if (!controllerManager) await unlessUnobtainable(progress, () => cluster.joinControllerManager());
    if (!collector) await unlessUnobtainable(progress, joinCollector);
  };
  return {
    client: cluster.client,
    server: cluster.server,
    kubeconfig: cluster.kubeconfig,
    manager,
    sink,
    /** Resolves when programs that are still fetched or built have joined. */
    background: join(),
    async stop(): Promise<void> {
      await manager.stop();
      await stop();
    },
  };
}

/** The demo also works without this step. */
async function unlessUnobtainable(progress: Progress, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof NoGoError)) throw error;
    progress(`continuing without ${error.message}`);
  }
}
