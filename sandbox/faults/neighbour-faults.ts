import assert from 'node:assert/strict';
import { eventually } from '../testing/eventually.ts';
import type { PatchOperation, Workload } from '../../runtime/api/objects.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { startMutatingWebhook } from '../testing/mutating-webhook.ts';
import { refuse } from '../testing/refuse-changes.ts';
import { getEvent } from '../testing/telemetry.ts';
import { createWorkload } from '../testing/workloads.ts';
import { workloadKinds } from '../../runtime/contract.ts';
import type { Fleet } from './fleet.ts';
import { getWarnings } from './reader.ts';
import {
  askForLogs,
  beginInstrumenting,
  flagAtRandom,
  instrumentAll,
  waitForInstrumented,
  waitForDeletedLumigo,
} from './steps.ts';
import type { FaultRun } from './fault-run.ts';

const { deployment } = workloadKinds;
/** A neighbour of a busy namespace may take this many times as long as alone. */
const SLOWER = 4;
const MOMENT_MS = 5_000;
const frozen = { frozen: 'true' };

/** Creates a neighbour of a namespace in trouble, which measures its speed. */
async function createNeighbour(faultRun: FaultRun, { size }: Fleet) {
  const fleet = await faultRun.fleet(size);
  let besideMs = 0;
  return {
    fleet,
    async measureBeside(): Promise<void> {
      besideMs = await instrumentAll(faultRun, fleet);
      faultRun.figures['ms beside the trouble'] = besideMs;
    },
    /** Judges after the trouble. A time that is always short enough needs no comparison. */
    async judgeSpeed(): Promise<void> {
      if (besideMs <= MOMENT_MS) return;
      await faultRun.rest();
      await waitForDeletedLumigo(faultRun, fleet);
      await faultRun.rest();
      const aloneMs = await instrumentAll(faultRun, fleet);
      faultRun.figures['ms alone'] = aloneMs;
      if (besideMs > aloneMs * SLOWER + MOMENT_MS)
        faultRun.broken(`a neighbour waited ${besideMs} ms for what takes ${aloneMs} ms alone`);
    },
  };
}

export async function namespaceDeleted(faultRun: FaultRun, doomed: Fleet) {
  const { operator, reader } = faultRun.testbed;
  const { namespace: name } = doomed;
  const { measureBeside, judgeSpeed } = await createNeighbour(faultRun, doomed);
  await beginInstrumenting(faultRun, doomed);
  await operator.cluster.client.delete({ ...kinds.namespaces, name });
  doomed.forget();
  await measureBeside();
  await eventually(async () => assert(!(await reader.hasNamespace(name))), { timeoutMs: 60_000 }).catch(() =>
    faultRun.broken('the namespace was still there a minute after its deletion'),
  );
  await judgeSpeed();
}

export async function changesRefused(faultRun: FaultRun, troubled: Fleet) {
  const { operator, reader, history } = faultRun.testbed;
  const { namespace, exempt, size } = troubled;
  const { fleet: neighbour, measureBeside, judgeSpeed } = await createNeighbour(faultRun, troubled);
  await troubled.fill(Math.ceil(size / 4), 'frozen', frozen);
  const relent = await operator.refuseChanges(namespace, frozen);
  for (const name of troubled.names) if (name.startsWith('frozen')) exempt.add(name);
  try {
    await troubled.testCluster.lumigo(namespace);
    await measureBeside();
    await waitForInstrumented(faultRun, troubled, (found) => found >= size);
    await flagAtRandom(faultRun, neighbour);
    await faultRun.rest();
    const tries = history
      .refresh()
      .requests.filter((each) => each.namespace === namespace && each.verb === 'patch' && exempt.has(each.name));
    faultRun.figures['tries of frozen workloads'] = tries.length;
    const countWarnings = async () => getWarnings(await reader.look(namespace)).length;
    // The last events may be on their way.
    await eventually(async () => assert((await countWarnings()) >= exempt.size)).catch(() => undefined);
    const warnings = await countWarnings();
    if (warnings !== exempt.size)
      faultRun.broken(`${warnings} warnings about ${exempt.size} workloads that are refused`);
  } finally {
    await relent();
  }
  await judgeSpeed();
}

export async function eventsRefused(faultRun: FaultRun, troubled: Fleet) {
  const { client } = faultRun.testbed.operator.cluster;
  const { namespace, size } = troubled;
  const { measureBeside, judgeSpeed } = await createNeighbour(faultRun, troubled);
  const relent = await refuse(client, `refuse-events-${namespace}`, {
    namespace,
    rule: { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['events'] },
    message: 'no events here',
    attempt: () => client.create({ ...kinds.events, namespace }, getEvent(namespace, 'probe'), { dryRun: true }),
  });
  troubled.isReported = false;
  try {
    await troubled.testCluster.lumigo(namespace);
    await waitForInstrumented(faultRun, troubled, (found) => found >= Math.min(size, 16));
    await measureBeside();
    await waitForInstrumented(faultRun, troubled, (found) => found >= size);
  } finally {
    await relent();
  }
  await judgeSpeed();
}

/** The API server calls webhooks in the order of their names. */
export async function otherWebhook(faultRun: FaultRun, before: Fleet, { perWebhook }: { perWebhook: number }) {
  await besideWebhook(faultRun, before, perWebhook, 'a-neighbour');
  await besideWebhook(faultRun, await faultRun.fleet(0), perWebhook, 'z-neighbour');
}

async function besideWebhook(faultRun: FaultRun, fleet: Fleet, workloads: number, name: string): Promise<void> {
  const { testCluster, namespace } = fleet;
  const end = await startMutatingWebhook({
    client: testCluster.client,
    name,
    mutate,
    rule: { apiGroups: ['apps'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
    probe: createWorkload(deployment, namespace, 'probe'),
  });
  try {
    await fleet.fill(workloads);
    const probed = await testCluster.dryRun(createWorkload(deployment, namespace, 'probe'));
    if (!JSON.stringify(probed).includes(sidecar)) faultRun.broken(`the webhook ${name} adds no sidecar`);
    await testCluster.activate(namespace);
    await faultRun.rest();
    await askForLogs(fleet);
    await faultRun.rest();
    await waitForDeletedLumigo(faultRun, fleet);
    await faultRun.rest();
  } finally {
    await end();
  }
}

const sidecar = 'sidecar';

function mutate(object: Workload): readonly PatchOperation[] {
  const containers = toTemplate(object)?.spec.containers ?? [];
  const isThere = containers.some(({ name }) => name === sidecar);
  const all = isThere ? containers : [...containers, { name: sidecar, image: 'sidecar:1' }];
  const wanted = all.toSorted((a, b) => (a.name < b.name ? 1 : -1));
  if (JSON.stringify(wanted) === JSON.stringify(containers)) return [];
  return [{ op: 'replace', path: '/spec/template/spec/containers', value: wanted }];
}
