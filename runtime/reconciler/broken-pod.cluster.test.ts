import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { PodsByHand } from '../../sandbox/testing/pods-by-hand.ts';
import { pods, workloads } from '../contract.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { noteOf } from '../injection/rollout-note.ts';

/** A StatefulSet's controller waits for a pod that is not ready, also once its template is what it was before (kubernetes#67250). */
let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({
    ...{ audit: true, controllerManager: false },
    settings: { rollout: { soakSeconds: 1 } },
    apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
  });
});
afterAll(() => operator?.stop());

const [, , statefulSet] = workloads;
const budget = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', name: 'all' };

/** A StatefulSet of three that runs, and gets an injection with which one of its pods fails. */
async function broken(prefix: string) {
  const { bench } = operator;
  const namespace = await bench.namespace(prefix);
  const hand = new PodsByHand(bench, namespace, statefulSet);
  await hand.deployment('db', 3);
  await hand.start('db', 'ready', 2);
  await bench.activate(namespace);
  await bench.whenInstrumented(statefulSet, namespace, 'db');
  return { bench, namespace, hand };
}

async function podsIn(namespace: string): Promise<string[]> {
  const found = await listAll(operator.cluster.client, { ...pods, namespace });
  return found.map(({ metadata }) => metadata.name).sort();
}

it('F58: of a StatefulSet that is put back the broken pod goes, after its template is back, and no other', async () => {
  const { bench, namespace, hand } = await broken('evicted');
  await hand.start('db', 'no-injector-image', 1);
  await hand.settle('db', 2);
  await bench.whenInstrumented(statefulSet, namespace, 'db', false);
  await eventually(async () => expect(await podsIn(namespace)).toEqual(['db-r1-0', 'db-r1-1']));
  const done = operatorRequests(operator.cluster, operator.installation)
    // Neither what another writer was before nor the probe of the webhook.
    .filter(({ responseStatus, requestURI }) => responseStatus?.code !== 409 && !requestURI.includes('dryRun'))
    .filter(({ objectRef }) => objectRef?.namespace === namespace)
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}/${objectRef?.subresource ?? ''}`)
    .filter((each) => each === 'patch statefulsets/' || each.endsWith('/eviction'));
  expect(done).toEqual(['patch statefulsets/', 'patch statefulsets/', 'create pods/eviction']);
});

it('one that a disruption budget holds goes as soon as that allows it, and nobody else is blamed meanwhile', async () => {
  const { bench, namespace, hand } = await broken('held');
  const body = {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace, name: 'all' } },
    spec: { maxUnavailable: 0, selector: {} },
  };
  await bench.create(body);
  await hand.start('db', 'crashes', 1);
  await hand.settle('db', 2);
  await bench.whenInstrumented(statefulSet, namespace, 'db', false);
  const refused = () =>
    operatorRequests(operator.cluster, operator.installation).filter(
      ({ objectRef, responseStatus }) =>
        objectRef?.namespace === namespace && objectRef.subresource === 'eviction' && responseStatus?.code === 429,
    );
  await eventually(() => expect(refused()).not.toEqual([]));
  expect(await podsIn(namespace)).toHaveLength(3);
  await operator.cluster.client.delete({ ...budget, namespace });
  await eventually(async () => expect(await podsIn(namespace)).toEqual(['db-r1-0', 'db-r1-1']));
  const { metadata } = await bench.get(statefulSet, namespace, 'db');
  expect(noteOf(metadata)).toMatchObject({ cause: 'Crash' });
});
