import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { followAudit, isOperators } from '../testing/audit.ts';
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

export type Testbed = Awaited<ReturnType<typeof startTestbed>>;

export async function startTestbed() {
  let proxy!: ApiProxy;
  let etcd!: TcpProxy;
  const operator = await startOperator({
    audit,
    // The log is one file, because each reading continues where the last one ended.
    apiServerFlags: ['--audit-log-maxsize=100000'],
    // In most faults all workloads can be updated, so a removal may take its time.
    config: { removalDeadlineSeconds: 120 },
    async etcdThrough(port) {
      etcd = await startTcpProxy(port);
      return etcd.port;
    },
    through: async (cluster) => (proxy = await startApiProxy(cluster)),
  });
  const { cluster, installation } = operator;
  return {
    operator,
    proxy,
    etcd,
    reader: createReader(cluster.kubeconfig),
    history: new History(followAudit(cluster.auditLog), isOperators(installation)),
    /** Returns the id of the first manager's credential, which is new after each start. */
    getFirstCredential: (): string =>
      getCredentialId(readFileSync(join(cluster.dir, 'manager-0', 'service-account', 'token'), 'utf8')),
    async stop(): Promise<void> {
      await operator.stop();
      await etcd.close();
    },
  };
}
