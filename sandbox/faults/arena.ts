import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { isAlive } from '../testing/run.ts';
import { startOperator } from '../testing/operator.ts';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts';
import { credentialIdOf, startApiProxy, type ApiProxy } from './api-proxy.ts';
import { History } from './history.ts';

/** A verdict needs the bodies of writes of workloads, Lumigo resources and events; everything else by name. */
const audit = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: RequestResponse
    verbs: [create, update, patch]
    resources:
      - { group: apps, resources: [deployments] }
      - { group: operator.lumigo.io, resources: [lumigoes] }
  - level: Request
    verbs: [create]
    resources: [{ group: '', resources: [events] }]
  - level: Metadata
`;
/** The log is one file: it is read from where the last reading ended. */
const apiServerFlags = ['--audit-log-maxsize=100000'];
/** Workloads that cannot be updated are no part of most faults: a removal takes the time that it takes. */
const config = { removalDeadlineSeconds: 120 };

/** A cluster with the operator, and something to break on each side of its API server. */
export type Arena = Awaited<ReturnType<typeof startArena>>;

/** Starts one; `stop` of what comes back ends everything, also after a failure. */
export async function startArena() {
  const made: { proxy?: ApiProxy; etcd?: TcpProxy } = {};
  const operator = await startOperator({
    ...{ audit, apiServerFlags, config },
    etcdThrough: async (port) => (made.etcd = await startTcpProxy(port)).port,
    through: async (cluster) => (made.proxy = await startApiProxy(cluster)).server,
  });
  const { proxy, etcd } = made;
  if (proxy === undefined || etcd === undefined) throw new Error('the operator was started without the proxies');
  return {
    operator,
    proxy,
    etcd,
    log: new History(operator.cluster.auditLog, operator.installation),
    /** The id of the credential that a manager has, by the manager's name. */
    credentialOf: (manager: string): string =>
      credentialIdOf(readFileSync(join(operator.cluster.dir, manager, 'service-account', 'token'), 'utf8')),
    async stop(): Promise<void> {
      await operator.stop();
      await proxy.close();
      await etcd.close();
    },
  };
}

/** Nothing is interfered with any more, and the first manager runs. */
export async function tidy({ proxy, etcd, operator }: Arena): Promise<void> {
  proxy.interfere = undefined;
  etcd.delayAnswers(0);
  const { pid } = operator.manager();
  if (!isAlive(pid)) return operator.startManager();
  process.kill(pid, 'SIGCONT');
}
