import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { forgetPeak, getUsage } from '../../bench/process-usage.ts';
import { asInThePod } from '../../bench/surroundings.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { etcdAt } from '../../sandbox/testing/etcd.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { annotations, lumigo as contract, workloadKinds, workloads } from '../contract.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';

/** The container's limit is 256 MiB. Peaks of the same phase vary between 98 and 120 MB with the garbage collector. */
const MAX_RESIDENT_BYTES = 140e6;
const CONCURRENT = 2;
jest.setTimeout(600_000);
/** The API server is busy with objects of this size: on two shared cores its cache is minutes behind. */
const patience = { timeoutMs: 300_000 };
const { deployment, daemonSet, replicaSet, statefulSet } = workloadKinds;

let operator: OperatorBench;
let pid: number;
let neighbours = 0;
beforeAll(async () => {
  operator = await startOperator({ environment: asInThePod, controllerManager: false });
  ({ pid } = operator.manager());
});
afterAll(() => operator?.stop());

/** Writes to etcd, because the API server would take much longer. The objects are valid. */
async function store(manifests: readonly Manifest[]): Promise<void> {
  const etcd = etcdAt(operator.cluster.etcd);
  await forEachConcurrent(CONCURRENT, manifests, ({ metadata, ...manifest }) => {
    const { namespace, name } = metadata;
    const { plural, folder } = getPlace(manifest.kind);
    const key = `/registry/${folder}${plural}/${namespace}/${name}`;
    const creationTimestamp = new Date().toISOString().replace(/\.\d+/, '');
    return etcd.store([
      { key, object: { ...manifest, metadata: { ...metadata, uid: randomUUID(), creationTimestamp } } },
    ]);
  });
}

function getPlace(kind: string): { readonly plural: string; readonly folder: string } {
  const workload = workloads.find((each) => each.kind === kind);
  return workload === undefined
    ? { plural: contract.plural, folder: `${contract.group}/` }
    : { ...workload, folder: '' };
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

async function neighbourIsServed(): Promise<void> {
  const { testCluster } = operator;
  neighbours += 1;
  const namespace = await testCluster.namespace(`neighbour-${neighbours}`);
  await testCluster.create(createWorkload(deployment, namespace, 'before'));
  await testCluster.secret(namespace);
  await testCluster.lumigo(namespace);
  await eventually(() => testCluster.waitForActive(namespace), patience);
  await eventually(() => testCluster.waitForInstrumented(deployment, namespace, 'before'), patience);
  await testCluster.create(createWorkload(deployment, namespace, 'after'));
  await eventually(() => testCluster.waitForInstrumented(deployment, namespace, 'after'), patience);
}

async function peakDuring(name: string, attack: () => Promise<void>): Promise<number> {
  forgetPeak(pid);
  await attack();
  await neighbourIsServed();
  const { peakBytes, residentBytes } = getUsage(pid);
  process.stderr.write(`${name}: peak ${Math.round(peakBytes / 1e6)} MB, then ${Math.round(residentBytes / 1e6)} MB\n`);
  expect(operator.manager().pid).toBe(pid);
  return peakBytes;
}

const ANNOTATION = 'a'.repeat(255_000);
const annotated = (namespace: string) => {
  const keys = [annotations.retry, annotations.instrumentation, annotations.injectContainers];
  return times(400, (index) => {
    const manifest = createWorkload(deployment, namespace, `annotated-${index}`);
    const own = { [keys[index % keys.length] ?? '']: ANNOTATION };
    return { ...manifest, metadata: { ...manifest.metadata, annotations: own } };
  });
};

/** Each Deployment has about 1.3 MB: many strings, as short as they can be without being shared in a heap. */
const args = times(93_000, () => 'x'.repeat(11));
const large = (namespace: string) =>
  [deployment, daemonSet, replicaSet, statefulSet].flatMap((kind) =>
    times(10, (index) =>
      createWorkload(kind, namespace, `large-${index}`, {
        pod: { containers: [{ name: 'app', image: 'app:1', args }] },
      }),
    ),
  );

/** With 14,000 of these labels a Lumigo has 1.1 MB, above the limit. With 9,000 it has 0.7 MB. */
const labelled = (namespace: string, name: string, count: number) => {
  const labels = Object.fromEntries(times(count, (index) => [`label-${index}`, 'v'.repeat(63)]));
  const manifest = getLumigo(namespace, {}, name);
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
};

describe('the manager, with the heap of its container', () => {
  it('does not keep the text of 400 annotations of 255 KB [F66]', async () => {
    const namespace = await operator.testCluster.namespace('annotated');
    const peak = await peakDuring('400 annotations', () => store(annotated(namespace)));
    expect(peak).toBeLessThan(MAX_RESIDENT_BYTES);
  });

  it('reads 40 workloads of 1.3 MB under a Lumigo within its memory [F66]', async () => {
    const namespace = await operator.testCluster.namespace('large');
    const peak = await peakDuring('40 workloads', async () => {
      await store(large(namespace));
      await operator.testCluster.secret(namespace);
      await operator.testCluster.lumigo(namespace);
      await eventually(() => operator.testCluster.waitForActive(namespace), patience);
    });
    expect(peak).toBeLessThan(MAX_RESIDENT_BYTES);
  });

  it('refuses a second Lumigo whose review has more than 1 MiB [F66]', async () => {
    const namespace = await operator.testCluster.namespace('second');
    await operator.testCluster.lumigo(namespace);
    // The leader that writes the status is also the webhook.
    await eventually(
      async () => expect((await operator.testCluster.readLumigo(namespace)).status).toBeDefined(),
      patience,
    );
    await expect(operator.testCluster.create(labelled(namespace, 'second', 13_000))).rejects.toThrow(
      "There is already a Lumigo resource in the '",
    );
  });

  it('does not keep the labels of 90 Lumigo resources [F66]', async () => {
    const namespace = await operator.testCluster.namespace('labelled');
    const peak = await peakDuring('90 Lumigo resources', () =>
      store(times(90, (index) => labelled(namespace, `lumigo-${index}`, index % 5 === 0 ? 9_000 : 14_000))),
    );
    expect(peak).toBeLessThan(MAX_RESIDENT_BYTES);
  });

  it('starts within its memory if all of these objects exist [F66]', async () => {
    await operator.killManager();
    await operator.startManager();
    ({ pid } = operator.manager());
    const peak = await peakDuring('a new leader', async () => undefined);
    expect(peak).toBeLessThan(MAX_RESIDENT_BYTES);
  });
});
