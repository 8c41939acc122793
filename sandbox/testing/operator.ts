import { probeEchoPrefix, probeLabel } from '../../runtime/contract.ts';
import { ensureBundle } from '../../infra/bundle.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { freePorts } from '../control-plane/processes.ts';
import { lumigoOf } from '../lumigo.ts';
import { collectionOf } from '../manager/apply.ts';
import { install, type Installation } from '../manager/install.ts';
import { startManager, type Manager } from '../manager/manager.ts';
import { Bench } from './bench.ts';
import { eventually } from './eventually.ts';
import { refuseChanges } from './refuse-changes.ts';

/** A cluster of its own for a test file, with the operator installed and its manager running. */
export interface OperatorBench {
  readonly bench: Bench;
  readonly cluster: ControlPlane;
  readonly installation: Installation;
  manager(): Manager;
  /** The sum of one of the manager's metrics over its labels. */
  metric(name: string): Promise<number>;
  stopManager(): Promise<void>;
  killManager(): Promise<void>;
  /** `more`: environment of this one beside the others'. */
  startManager(more?: Readonly<Record<string, string>>): Promise<void>;
  /** A second manager, which stands by. */
  startAnother(more?: Readonly<Record<string, string>>): Promise<Manager>;
  /** Does something while the API server calls no webhook of ours. */
  withoutWebhook<T>(action: () => Promise<T>): Promise<T>;
  /** Has the API server refuse every update of the workloads with these labels; gives back how to relent. */
  refuseChanges(namespace: string, labels: Readonly<Record<string, string>>): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export interface OperatorOptions extends ControlPlaneOptions {
  readonly settings?: object;
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether each manager has its telemetry proxy beside it. */
  readonly collector?: boolean;
  /** Puts something between the managers and the API server; resolves with the address to find it at. */
  readonly through?: (cluster: ControlPlane) => Promise<string>;
}

/** The deadline that tests can wait for. */
const impatient = { LUMIGO_REMOVAL_DEADLINE_SECONDS: '5' };

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

async function operatorOn(cluster: ControlPlane, options: OperatorOptions): Promise<OperatorBench> {
  const [webhookPort = 0] = await freePorts(1);
  const settings = options.settings ?? {};
  const installation = await install(cluster.client, { settings, webhook: webhookPort });
  const environment = { ...impatient, ...options.environment };
  const { collector = false } = options;
  const reached = { ...cluster, server: (await options.through?.(cluster)) ?? cluster.server };
  const start = (more: Readonly<Record<string, string>> = {}) =>
    startManager(reached, installation, { webhookPort, environment: { ...environment, ...more }, collector });
  let manager = await start();
  const others: Manager[] = [];
  return {
    bench: new Bench(cluster.client),
    cluster,
    installation,
    manager: () => manager,
    metric: (name) => manager.metric(name),
    stopManager: () => manager.stop(),
    killManager: () => manager.stop('SIGKILL'),
    async startManager(more) {
      manager = await start(more);
    },
    async startAnother(more) {
      const [port = 0] = await freePorts(1);
      const another = await startManager(reached, installation, {
        name: `manager-${others.length + 1}`,
        webhookPort: port,
        environment: { ...environment, ...more },
        collector,
      });
      others.push(another);
      return another;
    },
    async withoutWebhook(action) {
      const ref = { group: 'admissionregistration.k8s.io', version: 'v1', plural: 'mutatingwebhookconfigurations' };
      const name = `${installation.settings.name}-injector-webhook`;
      const before = await cluster.client.get({ ...ref, name });
      await cluster.client.delete({ ...ref, name });
      await whenNotCalled(cluster);
      try {
        return await action();
      } finally {
        const { resourceVersion: _version, uid: _uid, ...metadata } = before.metadata;
        await cluster.client.create(ref, { ...before, metadata } as never);
      }
    },
    refuseChanges: (namespace, labels) => refuseChanges(cluster.client, namespace, labels),
    async stop() {
      for (const each of [manager, ...others]) await each.stop();
      await cluster.stop();
    },
  };
}
