import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload, type WorkloadOptions } from '../../sandbox/testing/workloads.ts';
import { labels, workloadKinds, type WorkloadKind } from '../contract.ts';

const { deployment, job } = workloadKinds;
const optIn = { [labels.autoTrace]: 'true' };
const optOut = { [labels.autoTrace]: 'false' };
const refusing = { pod: { volumes: [{ name: 'lumigo-injector', emptyDir: {} }] } };
const done = (change: string): string => `Lumigo${change}Instrumentation`;
const [added, updated, removed] = [done('Added'), done('Updated'), done('Removed')];
const [cannotAdd, cannotUpdate, cannotRemove] = [done('CannotAdd'), done('CannotUpdate'), done('CannotRemove')];

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
});
afterAll(() => operator?.stop());

const create = (namespace: string, options: WorkloadOptions = {}, kind: WorkloadKind = deployment) =>
  operator.testCluster.create(createWorkload(kind, namespace, 'app', options));

const label = (namespace: string, own: object, kind: WorkloadKind = deployment) =>
  operator.testCluster.merge(kind, namespace, 'app', { metadata: { labels: own } });

async function enlarge(namespace: string, own: object = {}): Promise<void> {
  const { testCluster } = operator;
  const { spec } = await testCluster.toTemplate(deployment, namespace, 'app');
  const [container] = spec.containers;
  const more = Array.from({ length: 4_000 }, (_, index) => ({ name: `E${index}`, value: 'x' }));
  const containers = [{ ...container, env: [...(container?.env ?? []), ...more] }];
  const template = { spec: { containers } };
  await testCluster.merge(deployment, namespace, 'app', { metadata: { labels: own }, spec: { template } });
}

async function instrumented(namespace: string): Promise<void> {
  await operator.testCluster.activate(namespace);
  await create(namespace);
  await operator.testCluster.waitForInstrumented(deployment, namespace, 'app');
}

const enableLogs = (namespace: string) =>
  operator.testCluster.changeLumigo(namespace, { spec: { logging: { enabled: true } } });

interface Situation {
  readonly events: readonly string[];
  readonly arrange: (namespace: string) => Promise<unknown>;
}

const situations: Readonly<Record<string, Situation>> = {
  'is created under a Lumigo': { events: [added], arrange: instrumented },
  'is injected when its Lumigo gets other settings': {
    events: [added, updated],
    arrange: (namespace) => instrumented(namespace).then(() => enableLogs(namespace)),
  },
  'is injected and opts out': {
    events: [added, removed],
    arrange: (namespace) => instrumented(namespace).then(() => label(namespace, optOut)),
  },
  'opts in without a Lumigo and cannot be injected': {
    events: [cannotAdd],
    arrange: (namespace) => create(namespace, { ...refusing, labels: optIn }),
  },
  'is an existing Job that opts in without a Lumigo': {
    events: [cannotAdd],
    arrange: (namespace) => create(namespace, {}, job).then(() => label(namespace, optIn, job)),
  },
  'is injected and too large to renew': {
    events: [added, cannotUpdate],
    arrange: (namespace) => instrumented(namespace).then(() => enlarge(namespace)),
  },
  'is injected when the API server refuses other settings': {
    events: [added, cannotUpdate],
    arrange: async (namespace) => {
      await instrumented(namespace);
      await operator.refuseChanges(namespace, { app: 'app' });
      await enableLogs(namespace);
    },
  },
  'is injected, opts out and is too large': {
    events: [added, cannotRemove],
    arrange: (namespace) => instrumented(namespace).then(() => enlarge(namespace, optOut)),
  },
};

it.each(Object.entries(situations))(
  'a workload that %s gets the events of what was tried [F78]',
  async (_what, row) => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('reasons');
    await row.arrange(namespace);
    await eventually(async () => {
      const events = await testCluster.events(namespace, 'app');
      expect(events.map(({ reason }) => reason).sort()).toEqual(row.events.toSorted());
    });
  },
);
