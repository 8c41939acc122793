import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import type { KubernetesObject } from '../http/client.ts';
import { listWatch, type ListWatchOptions } from '../watch/list-watch.ts';
import type { Transport } from '../http/transport.ts';
import { kinds } from '../resources/kinds.ts';

/** API servers before Kubernetes 1.34 stream lists only if a feature gate is on. */
let cluster: ControlPlane;
let transport: Transport;
let stop: AbortController;

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false, apiServerFlags: ['--feature-gates=WatchList=false'] });
});
afterAll(() => cluster?.stop());
beforeEach(() => {
  transport = connectTo(cluster);
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  transport.close();
});

const configMaps = { ...kinds.configMaps, namespace: 'default' };

const put = async (name: string, colour = 'red'): Promise<void> => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour } };
  await cluster.client.patch({ ...configMaps, name }, { kind: 'apply', body, force: true }, { fieldManager: 'test' });
};

function watch(more: Partial<ListWatchOptions> = {}) {
  const seen: KubernetesObject[] = [];
  const handler = {
    upsert: (object: KubernetesObject) => void seen.push(object),
    delete: () => undefined,
    known: () => [],
  };
  const options = { transport, resource: configMaps, signal: stop.signal, fieldSelector: 'metadata.name=chosen' };
  return { seen, ...listWatch({ ...options, handler, ...more }) };
}

describe('a server that does not stream lists [F61]', () => {
  it('gets a request for a list, whose objects have kind and version as those of a stream', async () => {
    await put('chosen');
    const { seen, synced } = watch();
    await synced;
    await put('chosen', 'blue');
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen.map(({ apiVersion, kind, data }) => [apiVersion, kind, data])).toEqual([
      ['v1', 'ConfigMap', { colour: 'red' }],
      ['v1', 'ConfigMap', { colour: 'blue' }],
    ]);
  });

  it('gets one for metadata alone as well', async () => {
    await put('chosen');
    const { seen, synced } = watch({ metadataOnly: true });
    await synced;
    expect(seen.map(({ kind, data }) => [kind, data])).toEqual([['PartialObjectMetadata', undefined]]);
  });

  it('returns the version from which to watch, also without objects', async () => {
    const from: unknown[] = [];
    const stream: Transport['stream'] = (request) => {
      from.push(request.query?.resourceVersion);
      return transport.stream(request);
    };
    const nobody = { metadataOnly: true, fieldSelector: 'metadata.name=nobody' };
    const { synced } = watch({ ...nobody, transport: { ...transport, stream } });
    await synced;
    await eventually(() => expect(from.at(-1)).toMatch(/^\d+$/));
  });

  it('is no longer watched as soon as the signal is aborted', async () => {
    const { synced, stopped } = watch();
    await synced;
    stop.abort();
    await stopped;
  });
});
