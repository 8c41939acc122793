import { probeEchoPrefix, probeLabel, suffixes } from '../../runtime/contract.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { freePorts } from '../control-plane/processes.ts';
import { getLumigo } from '../lumigo.ts';
import { getCollection } from '../manager/apply.ts';
import type { Changes } from '../manager/configuration.ts';
import { applyManifests, install } from '../manager/install.ts';
import { startManager, type Manager, type ManagerOptions } from '../manager/manager.ts';
import { TestCluster } from './test-cluster.ts';
import { eventually } from './eventually.ts';
import { refuseChanges } from './refuse-changes.ts';
import { stopOnError } from '../stop-on-error.ts';

export type OperatorBench = Awaited<ReturnType<typeof operatorOn>>;

type Texts = Readonly<Record<string, string>>;

type More = Pick<ManagerOptions, 'config' | 'environment'>;

export interface OperatorOptions extends ControlPlaneOptions, More {
  readonly settings?: object;
  readonly collector?: boolean;
  /** Starts a proxy between the managers and the API server. The operator closes it. */
  readonly through?: (cluster: ControlPlane) => Promise<{ readonly server: string; close(): Promise<void> }>;
}

/** The deadline is short enough for tests, and there is no soak by default. */
const getShortWaits = ({ rollout }: { readonly rollout?: { readonly soakSeconds?: number } }): Changes => ({
  removalDeadlineSeconds: 5,
  ...(rollout?.soakSeconds === undefined && { rolloutSoakSeconds: 0, rolloutLookSeconds: 1 }),
});

export async function startOperator(options: OperatorOptions = {}): Promise<OperatorBench> {
  await ensureBundle();
  const cluster = await startControlPlane(options);
  return stopOnError(cluster, () => operatorOn(cluster, options));
}

/** The API server begins and ends to call a webhook a moment after its configuration changes. The webhook echoes this label. */
async function waitForCalls({ client }: ControlPlane, expected: boolean): Promise<void> {
  const made = getLumigo('default', {}, 'probe');
  const probe = { ...made, metadata: { ...made.metadata, labels: { [probeLabel]: 'called' } } };
  await eventually(async () => {
    const { warnings } = await client.create(getCollection(probe), probe, { dryRun: true });
    if (warnings.some((warning) => warning.startsWith(probeEchoPrefix)) !== expected)
      throw new Error(`the webhook is ${expected ? 'not called yet' : 'called still'}`);
  });
}

async function operatorOn(cluster: ControlPlane, options: OperatorOptions) {
  const [webhookPort = 0] = await freePorts(1);
  const { settings = {}, collector = false } = options;
  const installation = await install(cluster.client, { settings, webhook: webhookPort });
  const proxy = await options.through?.(cluster);
  const reached = { ...cluster, server: proxy?.server ?? cluster.server };
  const start = (
    { config, environment }: More = {},
    own: Pick<ManagerOptions, 'name' | 'webhookPort'> = { webhookPort },
  ) =>
    startManager(reached, installation, {
      ...own,
      collector,
      config: { ...getShortWaits(settings), ...options.config, ...config },
      environment: { ...options.environment, ...environment },
    });
  let manager = await stopOnError({ stop: async () => proxy?.close() }, () => start());
  const others: Manager[] = [];
  return {
    testCluster: new TestCluster(cluster.client),
    cluster,
    installation,
    manager: (): Manager => manager,
    metric: (name: string): Promise<number> => manager.metric(name),
    stopManager: (): Promise<void> => manager.stop(),
    killManager: (): Promise<void> => manager.stop('SIGKILL'),
    async startManager(more?: More): Promise<void> {
      manager = await start(more);
    },
    /** Applies what a test deleted of the operator, and starts a manager. */
    async reinstall(): Promise<void> {
      await applyManifests(cluster.client, installation, webhookPort);
      manager = await start();
    },
    async startAnother(more?: More): Promise<Manager> {
      const [port = 0] = await freePorts(1);
      const another = await start(more, { name: `manager-${others.length + 1}`, webhookPort: port });
      others.push(another);
      return another;
    },
    async withoutWebhook<T>(action: () => Promise<T>): Promise<T> {
      const ref = { ...kinds.webhooks, name: `${installation.settings.name}${suffixes.injectorWebhook}` };
      const before = await cluster.client.get(ref);
      await cluster.client.delete(ref);
      await waitForCalls(cluster, false);
      try {
        return await action();
      } finally {
        const { resourceVersion: _version, uid: _uid, ...metadata } = before.metadata;
        await cluster.client.create(kinds.webhooks, { ...before, metadata } as never);
        await waitForCalls(cluster, true);
      }
    },
    refuseChanges: (namespace: string, labels: Texts) => refuseChanges(cluster.client, namespace, labels),
    async stop(): Promise<void> {
      for (const each of [manager, ...others]) await each.stop();
      await proxy?.close();
      await cluster.stop();
    },
  };
}
