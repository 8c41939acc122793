import { describe, expect, it } from '@jest/globals';
import { instrumented, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds, type WorkloadKind } from '../contract.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Client, KubernetesObject } from '../kubernetes/http/client.ts';
import { brokenPods, podsOfGeneration } from './generation-pods.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns a client of an API server with these pods, and a list with the number of pods on each page that it sent. */
function serve(there: readonly KubernetesObject[]) {
  const sent: number[] = [];
  const matches = ({ labels = {} }: { labels?: Labels }, selector = ''): boolean =>
    selector.split(',').every((each) => {
      const [key = '', value] = each.split('=');
      return key === '' || (value === undefined ? key in labels : labels[key] === value);
    });
  const pages: Client['pages'] = async function* (_ref, { labelSelector, limit = 500 } = {}) {
    const found = there.filter(({ metadata }) => matches(metadata, labelSelector));
    for (let start = 0; start === 0 || start < found.length; start += limit) {
      const items = await Promise.resolve(found.slice(start, start + limit));
      sent.push(items.length);
      yield { items, resourceVersion: '1', bytes: 0 };
    }
  };
  return { sent, client: { pages } as unknown as Client };
}

function workload(kind: WorkloadKind, name: string, more: object = {}): Workload {
  const injected = instrumented(made({ podLabels: { app: name } }, kind));
  const spec = injected['spec'] as object;
  const selected = 'selector' in spec ? { selector: { matchLabels: { app: name } } } : {};
  return { ...injected, spec: { ...spec, ...selected }, metadata: { ...injected.metadata, name, uid: name }, ...more };
}

const toOwner = ({ kind, metadata: { name = '', uid = '' } }: Workload) => ({ kind, name, uid });

/** Returns pods of a workload's present template. */
function podsOf(of: Workload, number: number, labels: Labels = {}, owner = toOwner(of)) {
  const { metadata, spec } = toTemplate(of) as PodTemplate;
  const ownerReferences = [{ apiVersion: of.apiVersion, controller: true, ...owner }];
  return Array.from({ length: number }, (_, index) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', spec, status: {} },
    metadata: {
      ...{ name: `${owner.name}-${index}`, uid: `${owner.name}-${index}`, ownerReferences },
      ...{ labels: { ...metadata?.labels, ...labels }, annotations: { ...metadata?.annotations } },
    },
  })) as unknown as KubernetesObject[];
}

const { cronJob, daemonSet, deployment, statefulSet } = workloadKinds;

describe('the broken pods of a StatefulSet', () => {
  const injected = workload(statefulSet, 'db');
  const clean = {
    ...injected,
    spec: { ...(made({}, statefulSet)['spec'] as object), selector: { matchLabels: { app: 'db' } } },
  };

  it('are those that have the injection, which its template no longer has', async () => {
    const [broken, other] = podsOf(injected, 2);
    const { metadata } = other as KubernetesObject;
    const without = { ...other, metadata: { ...metadata, annotations: {} } } as KubernetesObject;
    const { client } = serve([broken as KubernetesObject, without]);
    expect(await brokenPods(clean, client)).toMatchObject([{ name: 'db-0' }]);
  });

  it('are none while its template has the injection', async () => {
    expect(await brokenPods(injected, serve(podsOf(injected, 2)).client)).toEqual([]);
  });
});

describe('the pods that are looked at', () => {
  const nodes = (name: string): Workload => {
    const found = workload(daemonSet, name, { status: { observedGeneration: 2, desiredNumberScheduled: 40 } });
    const annotations = { ...found.metadata.annotations, 'deprecated.daemonset.template.generation': '2' };
    return { ...found, metadata: { ...found.metadata, annotations, generation: 2 } };
  };
  const generation = { 'pod-template-generation': '2' };

  it('are those of a DaemonSet, whatever number of pods another one of the same generation has', async () => {
    const [agent, other] = [nodes('b'), nodes('a')];
    const { client, sent } = serve([...podsOf(other, 300, generation), ...podsOf(agent, 40, generation)]);
    const found = await podsOfGeneration(agent, client);
    expect(new Set(found.map(({ name }) => name.slice(0, 1)))).toEqual(new Set(['b']));
    expect([found.length, found[0]?.injected.size, sent.length]).toEqual([20, 1, 1]);
  });

  it('are those of a DaemonSet also if others have all of its labels', async () => {
    const agent = nodes('b');
    const { client } = serve([
      ...podsOf(nodes('a'), 300, { ...generation, app: 'b' }),
      ...podsOf(agent, 2, generation),
    ]);
    expect(await podsOfGeneration(agent, client)).toMatchObject([{ name: 'b-0' }, { name: 'b-1' }]);
  });

  it("are a CronJob's own before those of other workloads", async () => {
    const job = workload(cronJob, 'nightly');
    const own = podsOf(job, 2, {}, { kind: 'Job', name: 'nightly-29', uid: 'a Job' });
    const { client, sent } = serve([...podsOf(nodes('a'), 300), ...own]);
    expect(await podsOfGeneration(job, client)).toMatchObject([{ name: 'nightly-29-0' }, { name: 'nightly-29-1' }]);
    expect(sent).toEqual([2]);
  });

  it('are those of others if it has none, of which the injector alone counts', async () => {
    const { client, sent } = serve(podsOf(nodes('a'), 300));
    const found = await podsOfGeneration(workload(deployment, 'empty', { status: {} }), client);
    expect([found.length, found[0]?.injected.size]).toEqual([20, 0]);
    expect(sent).toEqual([0, 50]);
  });

  it('are on at most twenty pages', async () => {
    const agent = nodes('b');
    const { client, sent } = serve(podsOf(nodes('a'), 3_000, { ...generation, app: 'b' }));
    expect(await podsOfGeneration(agent, client)).toEqual([]);
    expect(sent).toEqual(Array.from({ length: 20 }, () => 50));
  });
});
