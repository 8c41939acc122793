import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { watchKind } from './watches.ts';
import type { Identity } from './watch-position.ts';
import { kinds } from '../resources/kinds.ts';

let cluster: ControlPlane;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(() => cluster?.stop());

const rollouts = { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts', addOn: 'Argo Rollouts' };
const definitions = kinds.customResourceDefinitions;
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'rollouts.argoproj.io' },
  spec: {
    group: 'argoproj.io',
    scope: 'Namespaced',
    names: { plural: 'rollouts', singular: 'rollout', kind: 'Rollout' },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

describe('the watch of a kind whose definition may be absent', () => {
  it.each([
    ['all of it', {}],
    ['that with a label', { labelSelector: 'app=shop' }],
  ])('knows that there is nothing, reads %s with the definition, and forgets it without [F15]', async (_, of) => {
    const transport = connectTo(cluster);
    const stop = new AbortController();
    const store = new Map<string, Identity>();
    const watch = watchKind(rollouts, {
      ...{ transport, signal: stop.signal, logger: pino({ enabled: false }), ...of },
      handler: {
        upsert: ({ metadata: { namespace = '', name, uid } }) => store.set(name, { namespace, name, uid }),
        delete: ({ name }) => store.delete(name),
        known: () => store.values(),
      },
    });
    await watch.synced;
    expect(stop.signal.aborted).toBe(false);
    expect(store.size).toBe(0);
    const { client } = cluster;
    await eventually(() => client.create(definitions, definition));
    const metadata = { name: 'canary', labels: { app: 'shop' } };
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', metadata };
    await eventually(() => client.create({ ...rollouts, namespace: 'default' }, rollout));
    await eventually(() => expect([...store.keys()]).toEqual(['canary']));
    await client.delete({ ...definitions, name: 'rollouts.argoproj.io' });
    await eventually(() => expect(store.size).toBe(0));
    stop.abort();
    await watch.stopped;
    transport.close();
  });
});
