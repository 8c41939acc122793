import { probeEchoPrefix, probeLabel, suffixes } from '../../runtime/contract.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { freePorts } from '../control-plane/processes.ts';
import { lumigoOf } from '../lumigo.ts';
import { collectionOf } from '../manager/apply.ts';
import type { Changes } from '../manager/configuration.ts';
import { install } from '../manager/install.ts';
import { startManager, type Manager, type ManagerOptions } from '../manager/manager.ts';
import { TestCluster } from './test-cluster.ts';
import { eventually } from './eventually.ts';
import { refuseChanges } from './refuse-changes.ts';

/** A cluster of its own for a test file, with the operator installed and its manager running. */
export type OperatorBench = Awaited<ReturnType<typeof operatorOn>>;

type Texts = Readonly<Record<string, string>>;

/** The differences of a manager from the manifests. */
type More = Pick<ManagerOptions, 'config' | 'environment'>;

export interface OperatorOptions extends ControlPlaneOptions, More {
  readonly settings?: object;
  /** Whether each manager has its telemetry proxy beside it. */
  readonly collector?: boolean;
  /** Puts something between the managers and the API server; resolves with the address to find it at. */
  readonly through?: (cluster: ControlPlane) => Promise<string>;
}

/** The deadline that tests can wait for, and no soak unless they set one. */
const impatientOf = ({ rollout }: { readonly rollout?: { readonly soakSeconds?: number } }): Changes => ({
  removalDeadlineSeconds: 5,
  ...(rollout?.soakSeconds === undefined && { rolloutSoakSeconds: 0 }),
});

export async function startOperator(options: OperatorOptions = {}): Promise<OperatorBench> {
  await ensureBundle();
  const cluster = await startControlPlane(options);
  try {
    return await operatorOn(cluster, options);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** The API server goes on calling a webhook for a moment after its configuration is gone. The webhook echoes this label. */
async function whenNotCalled({ client }: ControlPlane): Promise<void> {
  const made = lumigoOf('default', {}, 'probe');
  const probe = { ...made, metadata: { ...made.metadata, labels: { [probeLabel]: 'called' } } };
  await eventually(async () => {
    const { warnings } = await client.create(collectionOf(probe), probe, { dryRun: true });
    if (warnings.some((warning) => warning.startsWith(probeEchoPrefix))) throw new Error('the webhook is called still');
  });
}

async function operatorOn(cluster: ControlPlane, options: OperatorOptions) {
  const [webhookPort = 0] = await freePorts(1);
  const { settings = {}, collector = false } = options;
  const installation = await install(cluster.client, { settings, webhook: webhookPort });
  const reached = { ...cluster, server: (await options.through?.(cluster)) ?? cluster.server };
  const impatient = impatientOf(settings);
  const start = (
    { config, environment }: More = {},
    own: Pick<ManagerOptions, 'name' | 'webhookPort'> = { webhookPort },
  ) =>
    startManager(reached, installation, {
      ...{ ...own, collector },
      config: { ...impatient, ...options.config, ...config },
      environment: { ...options.environment, ...environment },
    });
  let manager = await start();
  const others: Manager[] = [];
  return {
    bench: new TestCluster(cluster.client),
    cluster,
    installation,
    manager: (): Manager => manager,
    /** The sum of one of the manager's metrics over its labels. */
    metric: (name: string): Promise<number> => manager.metric(name),
    stopManager: (): Promise<void> => manager.stop(),
    killManager: (): Promise<void> => manager.stop('SIGKILL'),
    async startManager(more?: More): Promise<void> {
      manager = await start(more);
    },
    /** A second manager, which stands by. */
    async startAnother(more?: More): Promise<Manager> {
      const [port = 0] = await freePorts(1);
      const another = await start(more, { name: `manager-${others.length + 1}`, webhookPort: port });
      others.push(another);
      return another;
    },
    /** Does something while the API server calls no webhook of ours. */
    async withoutWebhook<T>(action: () => Promise<T>): Promise<T> {
      const ref = { ...kinds.webhooks, name: `${installation.settings.name}${suffixes.injectorWebhook}` };
      const before = await cluster.client.get(ref);
      await cluster.client.delete(ref);
      await whenNotCalled(cluster);
      try {
        return await action();
      } finally {
        const { resourceVersion: _version, uid: _uid, ...metadata } = before.metadata;
        await cluster.client.create(kinds.webhooks, { ...before, metadata } as never);
      }
    },
    /** Has the API server refuse every update of the workloads with these labels; gives back how to relent. */
    refuseChanges: (namespace: string, labels: Texts) => refuseChanges(cluster.client, namespace, labels),
    async stop(): Promise<void> {
      for (const each of [manager, ...others]) await each.stop();
      await cluster.stop();
    },
  };
}
