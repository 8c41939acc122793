import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { type ControlPlane, startControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { createClient } from '../http/client.ts';
import { isForbidden } from '../http/errors.ts';
import { type EventDetails, eventObject, postEvent } from './events.ts';
import { kinds } from './kinds.ts';

let cluster: ControlPlane;
beforeAll(async () => {
  // Without a controller manager, a deleted namespace stays in the phase Terminating.
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(() => cluster?.stop());

const event = (namespace: string, changes: Partial<EventDetails> = {}) =>
  eventObject({
    regarding: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace,
      name: 'cart',
      uid: '6f3c',
      resourceVersion: '7',
    },
    reason: 'LumigoAddedInstrumentation',
    message: 'Lumigo instrumentation added',
    key: 'added/1',
    now: new Date(),
    version: '1.2.3',
    instance: 'manager-0',
    ...changes,
  });

const namespaces = kinds.namespaces;
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

describe('postEvent', () => {
  it('posts a change once, even if several replicas report it', async () => {
    await postEvent(cluster.client, event('default'));
    await postEvent(cluster.client, event('default', { instance: 'manager-1' }));
    await postEvent(cluster.client, event('default', { key: 'added/2' }));
    const ref = { ...kinds.events, namespace: 'default' };
    const { value } = await cluster.client.pages(ref, { fieldSelector: 'involvedObject.uid=6f3c' }).next();
    expect(value?.items).toHaveLength(2);
    expect(value?.items[0]).toMatchObject({
      involvedObject: { kind: 'Deployment', name: 'cart' },
      reason: 'LumigoAddedInstrumentation',
      reportingInstance: 'manager-0',
    });
  });

  it('ignores a namespace that is being deleted', async () => {
    await postEvent(cluster.client, event('nowhere'));
    await cluster.client.create(namespaces, namespace('going'));
    await cluster.client.delete({ ...namespaces, name: 'going' });
    await postEvent(cluster.client, event('going'));
    const ref = { ...kinds.events, namespace: 'going' };
    expect((await cluster.client.pages(ref).next()).value?.items).toEqual([]);
  });

  it('reports that it has no permission', async () => {
    const transport = connectTo(cluster, { as: 'stranger' });
    const error: unknown = await postEvent(createClient(transport), event('default')).catch(
      (reason: unknown) => reason,
    );
    expect(isForbidden(error)).toBe(true);
    transport.close();
  });
});
