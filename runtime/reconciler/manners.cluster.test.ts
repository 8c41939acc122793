import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { labels, lumigo as contract, workloadKinds } from '../contract.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually, waitForRest } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload, mutableKinds } from '../../sandbox/testing/workloads.ts';
import { toRef } from '../../sandbox/manager/apply.ts';
import type { Workload } from '../api/objects.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';

const settings = { rollout: { strategy: 'immediate' } };

let sink: OtlpSink;
let operator: OperatorBench;
let testCluster: OperatorBench['testCluster'];
beforeAll(async () => {
  // Without an answer about its token, the status of a Lumigo changes once more after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({ settings, audit: true, controllerManager: false, config: { endpoint: sink.url } });
  ({ testCluster } = operator);
});
afterAll(async () => {
  await operator?.stop();
  await sink?.close();
});

const { deployment } = workloadKinds;

const ownRequests = () => operatorRequests(operator.cluster, operator.installation);

describe('towards the API server', () => {
  let sent: ReturnType<typeof ownRequests>;
  let former: string;
  beforeAll(async () => {
    former = await testCluster.namespace('former');
    await testCluster.activate(former);
    await testCluster.deleteLumigo(former);
    const namespace = await testCluster.instrumented('idle');
    await eventually(async () =>
      expect((await testCluster.readLumigo(namespace)).status?.instrumentedResourcesCount).toBe(1),
    );
    await testCluster.waitForCondition(namespace, 'Ready', { status: 'True' });
    const before = await waitForRest(async () => ownRequests().length, 2_500);
    await sleep(10_000);
    sent = ownRequests().slice(before);
  });

  it('an idle operator sends almost no requests and writes only its Lease [D20, D21]', () => {
    const of = (resource: string) => sent.filter(({ objectRef }) => objectRef?.resource === resource).length;
    // A Secret is not watched, so it can only be read again (credentials/plan-reading.ts).
    const probes = sent.filter(({ requestURI = '' }) => requestURI.includes('dryRun=All')).length;
    expect([sent.length - of('leases') - of('secrets') - probes, probes <= 1]).toEqual([0, true]);
    expect(of('leases')).toBeLessThanOrEqual(3);
    const looks = sent.flatMap(({ objectRef }) => (objectRef?.resource === 'secrets' ? [objectRef.namespace] : []));
    expect(looks).toEqual([...new Set(looks)]);
  });

  it('it reads only the one Secret that a Lumigo names [D22]', () => {
    const secrets = ownRequests().filter(({ objectRef }) => objectRef?.resource === 'secrets');
    expect(new Set(secrets.map(({ objectRef }) => objectRef?.name))).toEqual(new Set(['lumigo-credentials']));
  });

  it('it stops with a deleted Lumigo: no write after the finalizer, and no error [D27]', () => {
    const writes = ownRequests().filter(
      ({ verb, objectRef }) =>
        objectRef?.resource === contract.plural && objectRef.namespace === former && verb === 'patch',
    );
    expect(writes).not.toEqual([]);
    expect(writes.at(-1)?.objectRef?.subresource).toBeUndefined();
    const log = readFileSync(operator.manager().logFile, 'utf8');
    expect(log.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(log).not.toContain('namespace not reconciled');
  });
});

describe('towards a tool that applies server-side without force', () => {
  let namespace: string;
  const apply = (body: Manifest) =>
    operator.cluster.client.patch(toRef(body), { kind: 'apply', body }, { fieldManager: 'helm' });
  const kinds = mutableKinds.map(([, kind]) => kind);
  const applyEach = (value: string) => {
    const env = [{ name: 'LD_PRELOAD', value }];
    return Promise.all(kinds.map((kind) => apply(createWorkload(kind, namespace, kind.plural, { env }))));
  };
  const read = () => Promise.all(kinds.map((kind) => testCluster.get(kind, namespace, kind.plural)));
  beforeAll(async () => {
    namespace = await testCluster.namespace('applied');
    await applyEach('/own.so');
    await apply(createWorkload(deployment, namespace, 'opted'));
    await testCluster.activate(namespace);
    for (const kind of kinds) await testCluster.waitForInstrumented(kind, namespace, kind.plural);
    await testCluster.waitForInstrumented(deployment, namespace, 'opted');
  });

  it('the operator takes no field of a workload of any kind', async () => {
    const before = await read();
    for (const each of before) expect(JSON.stringify(each)).toContain('/own.so:/opt/lumigo');
    await eventually(() => applyEach('/own.so'));
    const important = ({ metadata, ...rest }: Workload) => [rest['spec'], metadata.generation];
    expect((await read()).map(important)).toEqual(before.map(important));
  });

  it('an opt-out can be applied over the label of the operator', async () => {
    const optOut = createWorkload(deployment, namespace, 'opted', { labels: { [labels.autoTrace]: 'false' } });
    await eventually(() => apply(optOut));
    await testCluster.waitForInstrumented(deployment, namespace, 'opted', false);
  });

  it('the operator keeps no field of a removed injection', async () => {
    await testCluster.deleteLumigo(namespace);
    await eventually(() => applyEach('/other.so'));
    expect(JSON.stringify(await read())).not.toContain('/own.so');
  });
});
