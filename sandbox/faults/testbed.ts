import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../run.ts';
import { startOperator } from '../testing/operator.ts';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts';
import { getCredentialId, startApiProxy, type ApiProxy } from './api-proxy.ts';
import { History } from './history.ts';
import { createReader } from './reader.ts';

/** The judge needs the bodies of writes of workloads and `Lumigo` resources, and everything else by name. */
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
  - level: Metadata
`;
/** The log is one file, because each reading continues where the last one ended. */
const apiServerFlags = ['--audit-log-maxsize=100000'];
/** In most faults all workloads can be updated, so a removal may take its time. */
const config = { removalDeadlineSeconds: 120 };

export type Testbed = Awaited<ReturnType<typeof startTestbed>>;

export async function startTestbed() {
  const made: { proxy?: ApiProxy; etcd?: TcpProxy } = {};
  const operator = await startOperator({
    audit,
    apiServerFlags,
    config,
    etcdThrough: async (port) => (made.etcd = await startTcpProxy(port)).port,
    through: async (cluster) => (made.proxy = await startApiProxy(cluster)).server,
  });
  const { proxy, etcd } = made as Required<typeof made>;
  return {
    operator,
    proxy,
    etcd,
    reader: createReader(operator.cluster),
    history: new History(operator.cluster.auditLog, operator.installation),
    getCredential: (manager: string): string =>
      getCredentialId(readFileSync(join(operator.cluster.dir, manager, 'service-account', 'token'), 'utf8')),
    async tidy(): Promise<void> {
      proxy.interfere = undefined;
      etcd.delayAnswers(0);
      const { pid } = operator.manager();
      if (!isAlive(pid)) return operator.startManager();
      process.kill(pid, 'SIGCONT');
    },
    async stop(): Promise<void> {
      await operator.stop();
      await proxy.close();
      await etcd.close();
    },
  };
}
