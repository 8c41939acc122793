import { runtimeConfig } from '../../infra/constructs/runtime-environment.ts';
import { injectorOf } from '../../runtime/config/config.ts';
import { annotations, lumigo, pods } from '../../runtime/contract.ts';
import type { InjectorSettings, Workload } from '../../runtime/injection/types.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { install, type Installation } from '../manager/install.ts';
import { Bench } from './bench.ts';
import { eventually } from './eventually.ts';
import { podOf } from './workloads.ts';

/** An installation with Pod mode and without an operator: the API server alone injects. */
export interface PodModeCluster {
  readonly cluster: ControlPlane;
  readonly bench: Bench;
  readonly installation: Installation;
  readonly injector: InjectorSettings;
  /** Creates a namespace with the account that every pod needs. */
  readonly namespace: (prefix: string, metadata?: object) => Promise<string>;
  /** Creates a pod that the API server forgets again. */
  readonly dryRun: (pod: Workload, namespace: string) => Promise<Workload>;
  readonly stop: () => Promise<void>;
}

export const podMode = { tracing: { injection: { mode: 'Pod' } } };

export async function startPodMode(settings: object = {}): Promise<PodModeCluster> {
  const cluster = await startControlPlane({ controllerManager: false });
  try {
    const bench = new Bench(cluster.client);
    const given = { ...settings, injection: { podMode: true, ...(settings as { injection?: object }).injection } };
    const installation = await install(cluster.client, { settings: given });
    const config = runtimeConfig(installation.settings, 'Manifests');
    return {
      ...{ cluster, bench, installation },
      injector: { ...injectorOf(config), platform: 'kubernetes' },
      async namespace(prefix, metadata = {}) {
        const namespace = await bench.namespace(prefix, metadata);
        await bench.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'default' } });
        return namespace;
      },
      async dryRun(pod, namespace) {
        const manifest = { ...pod, metadata: { ...pod.metadata, namespace } };
        const { object } = await cluster.client.create({ ...pods, namespace }, manifest as never, { dryRun: true });
        return { ...object, apiVersion: 'v1', kind: 'Pod' };
      },
      stop: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Sets the condition that an operator sets. */
export const setActive = (bench: Bench, namespace: string, status: 'True' | 'False' = 'True', name = 'lumigo') =>
  bench.setStatus(
    { ...lumigo, namespace, name },
    {
      conditions: [
        {
          type: 'Active',
          status,
          reason: 'Test',
          message: 'Set by a test.',
          lastTransitionTime: new Date(0).toISOString(),
        },
      ],
    },
  );

export const isInjectedPod = ({ metadata }: Pick<Workload, 'metadata'>): boolean =>
  metadata.annotations?.[annotations.injection] !== undefined;

/** Resolves when the API server injects the pods of a namespace, or no longer does. It learns the kind of a parameter within 30 s. */
export const whenPodsAreInjected = ({ dryRun }: PodModeCluster, namespace: string, expected = true): Promise<void> =>
  eventually(
    async () => {
      const probe = await dryRun(podOf(namespace, 'probe'), namespace);
      if (isInjectedPod(probe) !== expected)
        throw new Error(`pods of ${namespace} are ${expected ? 'not' : 'still'} injected`);
    },
    { timeoutMs: 60_000 },
  );

/** A namespace with an active Lumigo in Pod mode, whose pods are injected. */
export async function tracedNamespace(on: PodModeCluster, spec: object = podMode, metadata: object = {}) {
  const namespace = await on.namespace('traced', metadata);
  await on.bench.lumigo(namespace, spec);
  await setActive(on.bench, namespace);
  await whenPodsAreInjected(on, namespace);
  return namespace;
}
