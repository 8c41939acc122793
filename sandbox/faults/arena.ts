import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { isAlive } from '../testing/run.ts';
import { startOperator } from '../testing/operator.ts';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts';
import { credentialIdOf, startApiProxy, type ApiProxy } from './api-proxy.ts';
import { auditFlags, auditPolicy } from './audit-policy.ts';

export interface ArenaOptions {
  /** Whether etcd can be made slow. */
  readonly slowEtcd?: boolean;
  /** Whether Kubernetes' own controllers run: they collect garbage and end namespaces, and take their share of the cores. */
  readonly controllers?: boolean;
}

/** A cluster with the operator, and something to break on each side of its API server. */
export type Arena = Awaited<ReturnType<typeof startArena>>;

/** Workloads that cannot be updated are no part of most faults: a removal takes the time that it takes. */
const config = { removalDeadlineSeconds: 120 };

/** Starts one; `stop` of what comes back ends everything, also after a failure. */
export async function startArena({ slowEtcd = false, controllers = false }: ArenaOptions = {}) {
  const made: { proxy?: ApiProxy; etcd?: TcpProxy } = {};
  const operator = await startOperator({
    audit: auditPolicy,
    apiServerFlags: auditFlags,
    controllerManager: controllers,
    config,
    ...(slowEtcd ? { etcdThrough: async (port: number) => (made.etcd = await startTcpProxy(port)).port } : {}),
    through: async (cluster) => (made.proxy = await startApiProxy(cluster)).server,
  });
  if (made.proxy === undefined) throw new Error('the operator was started without the proxy before its API server');
  const { proxy, etcd } = made;
  return {
    operator,
    proxy,
    etcd,
    /** The id of the credential that a manager has, by the manager's name. */
    credentialOf: (manager: string): string =>
      credentialIdOf(readFileSync(join(operator.cluster.dir, manager, 'service-account', 'token'), 'utf8')),
    async stop(): Promise<void> {
      await operator.stop();
      await proxy.close();
      await etcd?.close();
    },
  };
}

/** Nothing is interfered with any more, and the first manager runs. */
export async function tidy({ proxy, etcd, operator }: Arena): Promise<void> {
  proxy.interfere = undefined;
  etcd?.delayAnswers(0);
  const { pid } = operator.manager();
  if (!isAlive(pid)) return operator.startManager();
  process.kill(pid, 'SIGCONT');
}
