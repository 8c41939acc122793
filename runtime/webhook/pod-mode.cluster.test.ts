import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolOn, type Tool } from '../../sandbox/e2e/tools.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { mutableKinds, podOf, workloadOf } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, paths, pods, suffixes, webhooks, workloads } from '../contract.ts';
import type { Workload } from '../injection/types.ts';
import { listAll } from '../kubernetes/http/client.ts';
import type { KubernetesObject, Manifest } from '../kubernetes/resources/objects.ts';

/** Pod mode against a real API server, whose controllers make the pods; no kubelet runs them. */
let operator: OperatorBench;
let kubectl: Tool;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lumigo-pod-mode-'));
  operator = await startOperator({
    settings: { injection: { podMode: true }, rollout: { strategy: 'on-next-change' } },
  });
  kubectl = await toolOn(operator.cluster, 'kubectl');
});
afterAll(async () => {
  await operator?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const [deployment, , statefulSet, , cronJob] = workloads;
const podMode = { tracing: { injection: { mode: 'Pod' } } };
const configurations = {
  ...{ group: 'admissionregistration.k8s.io', version: 'v1', plural: 'mutatingwebhookconfigurations' },
};

const isInjected = ({ metadata }: KubernetesObject): boolean =>
  metadata.annotations?.[annotations.injection] !== undefined;

async function podsIn(namespace: string): Promise<KubernetesObject[]> {
  const found = await listAll(operator.cluster.client, { ...pods, namespace });
  return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** What stands in the configuration for pods. */
async function configured() {
  const name = `${operator.installation.settings.name}${suffixes.podWebhook}`;
  const { webhooks: found = [] } = (await operator.cluster.client.get({
    ...configurations,
    name,
  })) as KubernetesObject & {
    readonly webhooks?: readonly {
      readonly name: string;
      readonly clientConfig: { readonly caBundle?: string };
      readonly namespaceSelector: { readonly matchExpressions: readonly { readonly values: readonly string[] }[] };
    }[];
  };
  return found;
}

const covered = async () => (await configured()).flatMap((each) => each.namespaceSelector.matchExpressions[0]?.values);

/** The API server calls the webhook for pods of this namespace, as a pod shows that it forgets again. */
const whenCalled = (namespace: string, expected = true) =>
  eventually(async () => {
    const { object } = await operator.cluster.client.create({ ...pods, namespace }, podOf(namespace, 'probe'), {
      dryRun: true,
    });
    if (isInjected(object) !== expected)
      throw new Error(`pods of ${namespace} are ${expected ? 'not' : 'still'} injected`);
  });

/** Labels and annotations, without what the controllers count in them. */
function own({ metadata }: Pick<Workload, 'metadata'>) {
  const { [generationOfDaemonSet]: _generation, [revision]: _revision, ...notes } = metadata.annotations ?? {};
  return { labels: metadata.labels, notes };
}
const generationOfDaemonSet = 'deprecated.daemonset.template.generation';
const revision = 'deployment.kubernetes.io/revision';

/** How many pods the webhook was asked about. */
async function reviews(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operator.manager().metricsPort}${paths.metrics}`)).text();
  const lines = text
    .split('\n')
    .filter((line) => line.includes('admission_reviews_total') && line.includes(paths.pods));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('in Pod mode', () => {
  it('pods are injected as they are created, whatever makes them, and what opts out is not', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('pods');
    await bench.activate(namespace, podMode);
    await whenCalled(namespace);
    const bare = await bench.create(podOf(namespace, 'bare'));
    expect(isInjected(bare)).toBe(true);
    expect(bare.metadata.annotations).not.toHaveProperty([annotations.instrumentation]);
    expect(isInjected(await bench.create(podOf(namespace, 'out', { [labels.autoTrace]: 'false' })))).toBe(false);
    const manifest = workloadOf(deployment, namespace, 'shop');
    await bench.create({ ...manifest, spec: { ...(manifest['spec'] as object), replicas: 2 } });
    await eventually(async () => {
      const made = (await podsIn(namespace)).filter(({ metadata }) => metadata.labels?.['app'] === 'shop');
      expect(made.map(isInjected)).toEqual([true, true]);
    });
    expect(await bench.isInstrumented(deployment, namespace, 'shop')).toBe(false);
    await eventually(() => {
      expect(kubectl('get', 'lumigo', '-n', namespace)).toMatch(/MODE[^]* Pod /);
    });
  });

  it('pods of other namespaces never reach the webhook, and without such a namespace there is none', async () => {
    const { bench } = operator;
    const [inside, outside] = [await bench.namespace('inside'), await bench.namespace('outside')];
    await bench.activate(inside, podMode);
    await bench.activate(outside);
    await whenCalled(inside);
    expect(await covered()).toContain(inside);
    const before = await reviews();
    expect(before).toBeGreaterThan(0);
    for (const name of ['a', 'b', 'c']) expect(isInjected(await bench.create(podOf(outside, name)))).toBe(false);
    expect(await reviews()).toBe(before);
    await bench.create(podOf(inside, 'a'));
    expect(await reviews()).toBe(before + 1);
    for (const { namespaceSelector } of await configured())
      for (const namespace of namespaceSelector.matchExpressions[0]?.values ?? []) await bench.deleteLumigo(namespace);
    await eventually(async () => expect(await configured()).toEqual([]));
    await whenCalled(inside, false);
  });

  it('D48: a repeated apply and a diff of the sources show nothing, before, during and after', async () => {
    const { bench, cluster } = operator;
    const namespace = await bench.namespace('gitops');
    const replicated = (kind: typeof deployment | typeof statefulSet, name: string): Manifest => {
      const manifest = workloadOf(kind, namespace, name);
      return { ...manifest, spec: { ...(manifest['spec'] as object), replicas: 1 } };
    };
    const sources = [
      replicated(deployment, 'web'),
      replicated(statefulSet, 'db'),
      workloadOf(cronJob, namespace, 'nightly'),
    ];
    const file = join(folder, 'sources.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: sources }));
    for (const source of sources) await apply(cluster.client, source, 'a-tool');
    const specs = async () =>
      Promise.all(
        [deployment, statefulSet, cronJob].map(async (kind, index) => {
          const found = await bench.get(kind, namespace, sources[index]?.metadata.name ?? '');
          return { ...own(found), generation: found.metadata.generation, spec: found['spec'] };
        }),
      );
    const before = await specs();
    const inSync = async () => {
      // A difference is an exit status of 1.
      expect(kubectl('diff', '--server-side', '--field-manager=a-tool', '-f', file)).toBe('');
      for (const source of sources) await apply(cluster.client, source, 'a-tool');
      expect(await specs()).toEqual(before);
    };
    await eventually(async () => expect((await podsIn(namespace)).map(isInjected)).toEqual([false, false]));
    await inSync();
    await bench.activate(namespace, podMode);
    await whenCalled(namespace);
    await inSync();
    for (const { metadata } of await podsIn(namespace))
      await cluster.client.delete({ ...pods, namespace, name: metadata.name });
    await eventually(async () => expect((await podsIn(namespace)).map(isInjected)).toEqual([true, true]));
    await inSync();
    await bench.deleteLumigo(namespace);
    await whenCalled(namespace, false);
    await inSync();
  });

  it.each(mutableKinds)(
    'a %s loses what its template had, to the byte, and gets it back in Workload mode',
    async (_, kind) => {
      const { bench } = operator;
      const namespace = await bench.namespace('modes');
      await bench.create(workloadOf(kind, namespace, 'app', { podLabels: { [labels.autoTrace]: 'true' } }));
      const before = await bench.get(kind, namespace, 'app');
      await bench.activate(namespace);
      await bench.whenInstrumented(kind, namespace, 'app');
      await bench.changeLumigo(namespace, { spec: podMode });
      await bench.whenInstrumented(kind, namespace, 'app', false);
      const after = await bench.get(kind, namespace, 'app');
      expect(after['spec']).toEqual(before['spec']);
      expect(own(after)).toEqual(own(before));
      await whenCalled(namespace);
      await bench.changeLumigo(namespace, { spec: { tracing: { injection: { mode: 'Workload' } } } });
      await bench.whenInstrumented(kind, namespace, 'app');
      await whenCalled(namespace, false);
    },
  );

  it('the pods that come of a change from Workload mode have the injection at once', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('changed');
    await bench.activate(namespace);
    const manifest = workloadOf(deployment, namespace, 'shop');
    await bench.create({ ...manifest, spec: { ...(manifest['spec'] as object), replicas: 1 } });
    await eventually(async () => expect((await podsIn(namespace)).map(isInjected)).toEqual([true]));
    await bench.changeLumigo(namespace, { spec: podMode });
    await bench.whenInstrumented(deployment, namespace, 'shop', false);
    // Nobody runs the new one, so that the old one stays.
    await eventually(async () => expect((await podsIn(namespace)).map(isInjected)).toEqual([true, true]));
  });

  it('follows the injector: under another authority, and after somebody has emptied it; no apply of its source does', async () => {
    const { bench, cluster, installation } = operator;
    const namespace = await bench.namespace('follow');
    await bench.activate(namespace, podMode);
    await whenCalled(namespace);
    const [injector, own] = [suffixes.injectorWebhook, suffixes.podWebhook].map((suffix) => ({
      ...configurations,
      name: `${installation.settings.name}${suffix}`,
    })) as [typeof configurations & { name: string }, typeof configurations & { name: string }];
    await cluster.client.patch(own, { kind: 'merge', body: { webhooks: [] } });
    await eventually(async () => expect((await configured()).map(({ name }) => name)).toEqual([webhooks.pods]));
    const source = installation.manifests.find(({ metadata }) => metadata.name === own.name);
    if (source === undefined) throw new Error('the manifests have no configuration for pods');
    const { resourceVersion } = (await cluster.client.get(own)).metadata;
    await apply(cluster.client, source, 'a-tool');
    const file = join(folder, 'configuration.json');
    writeFileSync(file, JSON.stringify(source));
    kubectl('apply', '-f', file);
    expect((await configured()).map(({ name }) => name)).toEqual([webhooks.pods]);
    expect(Number((await cluster.client.get(own)).metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
    const { authority } = installation;
    const caBundle = Buffer.from(`${authority.certificate}\n${authority.certificate}`).toString('base64');
    const operations = [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: caBundle } as const];
    await cluster.client.patch(injector, { kind: 'json', operations });
    await eventually(async () => expect((await configured())[0]?.clientConfig.caBundle).toBe(caBundle));
  });
});

describe('without the setting', () => {
  let plain: OperatorBench;
  beforeAll(async () => {
    plain = await startOperator({ controllerManager: false });
  });
  afterAll(() => plain?.stop());

  it('there is no configuration for pods, and a Lumigo says what it needs', async () => {
    const { bench, cluster, installation } = plain;
    expect(JSON.stringify(installation.manifests)).not.toContain('pod-webhook');
    const namespace = await bench.namespace('plain');
    await bench.secret(namespace);
    await bench.create(workloadOf(deployment, namespace, 'shop'));
    await bench.lumigo(namespace, podMode);
    await eventually(async () => {
      const { conditions = [] } = (await bench.readLumigo(namespace)).status ?? {};
      expect(conditions.find(({ type }) => type === 'Error')).toMatchObject({ status: 'True', reason: 'PodModeOff' });
      expect(conditions.find(({ type }) => type === 'Active')).toMatchObject({ status: 'False' });
    });
    expect(await bench.isInstrumented(deployment, namespace, 'shop')).toBe(false);
    const names: (string | undefined)[] = [];
    for await (const { items } of cluster.client.pages(configurations))
      names.push(...items.map((each) => each.metadata.name));
    expect(names).toEqual([`${installation.settings.name}${suffixes.injectorWebhook}`]);
    await bench.changeLumigo(namespace, { spec: { tracing: { injection: { mode: 'Workload' } } } });
    await bench.whenInstrumented(deployment, namespace, 'shop');
  });
});
