import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolOn, type Tool } from '../../sandbox/e2e/tools.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { runInContainer } from '../../sandbox/manager/command.ts';
import { isInstrumented } from '../../sandbox/lumigo.ts';
import { withoutNodes } from '../../sandbox/manager/install.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { eventually, waitForRest } from '../../sandbox/testing/eventually.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { podMode, waitForInjectedPods } from '../../sandbox/testing/pod-policy.ts';
import { createRunning, mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, pods, suffixes, workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { listAll } from '../kubernetes/http/client.ts';
import type { KubernetesObject, Manifest } from '../kubernetes/resources/objects.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

/** Controllers create the pods, and no kubelet runs them. */
let sink: OtlpSink;
let operator: OperatorBench;
let kubectl: Tool;
const folder = createTemporaryFolder();
beforeAll(async () => {
  // Without an answer about its token, a Lumigo is ready only after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({
    audit: true,
    config: { endpoint: sink.url },
    settings: { injection: { podMode: true }, ...withoutNodes },
  });
  kubectl = await toolOn(operator.cluster, 'kubectl');
});
afterAll(async () => {
  await operator?.stop();
  await sink?.close();
});

const { deployment, statefulSet, cronJob } = workloadKinds;
const windows = { nodeSelector: { 'kubernetes.io/os': 'windows' } };

async function podsIn(namespace: string): Promise<KubernetesObject[]> {
  const found = await listAll(operator.cluster.client, { ...pods, namespace });
  return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

const waitForInjecting = (namespace: string, expected = true) =>
  waitForInjectedPods(operator.testCluster, namespace, expected);

function own({ metadata }: Pick<Workload, 'metadata'>) {
  const { [generationOfDaemonSet]: _generation, [revision]: _revision, ...notes } = metadata.annotations ?? {};
  return { labels: metadata.labels, notes };
}
const generationOfDaemonSet = 'deprecated.daemonset.template.generation';
const revision = 'deployment.kubernetes.io/revision';

describe('in Pod mode', () => {
  it('the pods of a workload are injected on creation, and the workload is not', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('pods');
    await testCluster.activate(namespace, podMode);
    await waitForInjecting(namespace);
    await createRunning(testCluster, namespace, 'shop');
    await eventually(async () => {
      const made = (await podsIn(namespace)).filter(({ metadata }) => metadata.labels?.['app'] === 'shop');
      expect(made.map(isInstrumented)).toEqual([true, true]);
    });
    expect(await testCluster.isInstrumented(deployment, namespace, 'shop')).toBe(false);
    await eventually(() => {
      expect(kubectl('get', 'lumigo', '-n', namespace, '-o', 'wide')).toMatch(/MODE[^]* Pod /);
    });
  });

  it('the Lumigo is ready while the API server has the policy', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.namespace('ready');
    await testCluster.activate(namespace, podMode);
    await testCluster.waitForCondition(namespace, 'Ready', { status: 'True' });
    const admission = { group: 'admissionregistration.k8s.io', version: 'v1' };
    const ref = {
      ...admission,
      plural: 'mutatingadmissionpolicybindings',
      name: `${operator.installation.settings.name}${suffixes.podPolicy}`,
    };
    const { metadata, ...binding } = await cluster.client.get(ref);
    await cluster.client.delete(ref);
    // The operator looks at the policy after each change of a Lumigo, and else once a minute.
    await testCluster.changeLumigo(namespace, { spec: { logging: { enabled: true } } });
    await testCluster.waitForCondition(namespace, 'Ready', { status: 'False', reason: 'PodPolicyMissing' });
    const { name, labels: own } = metadata;
    await testCluster.create({ ...binding, metadata: { name, labels: own } } as Manifest);
    await waitForInjecting(namespace);
  });

  it('a repeated apply and a diff of the sources show nothing before, during and after [D48]', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.namespace('gitops');
    const replicated = (kind: typeof deployment | typeof statefulSet, name: string): Manifest => {
      const manifest = createWorkload(kind, namespace, name);
      return { ...manifest, spec: { ...(manifest['spec'] as object), replicas: 1 } };
    };
    const sources = [
      replicated(deployment, 'web'),
      replicated(statefulSet, 'db'),
      createWorkload(cronJob, namespace, 'nightly'),
    ];
    const file = join(folder, 'sources.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: sources }));
    for (const source of sources) await apply(cluster.client, source, 'a-tool');
    const specs = async () =>
      Promise.all(
        [deployment, statefulSet, cronJob].map(async (kind, index) => {
          const found = await testCluster.get(kind, namespace, sources[index]?.metadata.name ?? '');
          return { ...own(found), generation: found.metadata.generation, spec: found['spec'] };
        }),
      );
    const before = await specs();
    const inSync = async () => {
      // `kubectl diff` exits with 1 if there is a difference, such as a status that is written meanwhile.
      await eventually(() => expect(kubectl('diff', '--server-side', '--field-manager=a-tool', '-f', file)).toBe(''));
      for (const source of sources) await apply(cluster.client, source, 'a-tool');
      expect(await specs()).toEqual(before);
    };
    await eventually(async () => expect((await podsIn(namespace)).map(isInstrumented)).toEqual([false, false]));
    await inSync();
    await testCluster.activate(namespace, podMode);
    await waitForInjecting(namespace);
    await inSync();
    for (const { metadata } of await podsIn(namespace))
      await cluster.client.delete({ ...pods, namespace, name: metadata.name });
    await eventually(async () => expect((await podsIn(namespace)).map(isInstrumented)).toEqual([true, true]));
    await inSync();
    await testCluster.deleteLumigo(namespace);
    await waitForInjecting(namespace, false);
    await inSync();
  });

  it('a template loses its injection, to the byte, and its pods do not, until Workload mode is back', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('modes');
    const podLabels = { [labels.autoTrace]: 'true' };
    const all = mutableKinds.map(([, kind]) => ({ kind, name: `app-${kind.plural}` }));
    for (const { kind, name } of all) await testCluster.create(createWorkload(kind, namespace, name, { podLabels }));
    const stored = async () => {
      const found = await Promise.all(all.map(({ kind, name }) => testCluster.get(kind, namespace, name)));
      return found.map((each) => ({ kind: each.kind, ...own(each), spec: each['spec'] }));
    };
    const waitForEach = async (expected: boolean) => {
      for (const { kind, name } of all) await testCluster.waitForInstrumented(kind, namespace, name, expected);
    };
    const before = await stored();
    const arePodsInjected = (...expected: readonly boolean[]) =>
      eventually(async () => expect((await podsIn(namespace)).map(isInstrumented)).toEqual(expected));
    await testCluster.activate(namespace);
    await waitForEach(true);
    await createRunning(testCluster, namespace, 'shop', { spec: { replicas: 1 } });
    await arePodsInjected(true);
    await testCluster.changeLumigo(namespace, { spec: podMode });
    await waitForEach(false);
    expect(await stored()).toEqual(before);
    await testCluster.waitForInstrumented(deployment, namespace, 'shop', false);
    // No kubelet runs the new pod, so the old one stays.
    await arePodsInjected(true, true);
    await waitForInjecting(namespace);
    await testCluster.changeLumigo(namespace, { spec: { tracing: { injection: { mode: 'Workload' } } } });
    await waitForEach(true);
    await waitForInjecting(namespace, false);
  });
});

describe('the status in Pod mode', () => {
  const rolledOut = async (namespace: string) => {
    const { status } = await operator.testCluster.readLumigo(namespace);
    return {
      ...status?.conditions?.find(({ type }) => type === 'RolledOut'),
      count: status?.instrumentedResourcesCount,
    };
  };

  const explain = async (namespace: string, target: string) =>
    (await runInContainer(operator.cluster, operator.installation, ['explain', target, '-n', namespace])).stdout;

  const explained = (namespace: string, all: readonly KubernetesObject[], app: string) =>
    explain(namespace, `pod/${all.find(({ metadata }) => metadata.labels?.['app'] === app)?.metadata.name ?? ''}`);

  it('counts the pods that a restart would inject, says how, and follows each template', async () => {
    const { testCluster, cluster } = operator;
    const namespace = await testCluster.namespace('counted');
    for (const name of ['shop', 'bank']) {
      const manifest = createWorkload(deployment, namespace, name, name === 'bank' ? { pod: windows } : {});
      await testCluster.create({ ...manifest, spec: { ...(manifest['spec'] as object), replicas: 2 } });
    }
    await createRunning(testCluster, namespace, 'db', { kind: statefulSet, spec: { replicas: 1 } });
    await eventually(async () => expect(await podsIn(namespace)).toHaveLength(5));
    await testCluster.activate(namespace, podMode);
    await eventually(async () =>
      expect(await rolledOut(namespace)).toMatchObject({
        status: 'False',
        reason: 'PodsWithoutInjection',
        count: 0,
        message: expect.stringContaining('3 pods run without the injection') as unknown as string,
      }),
    );
    const before = await podsIn(namespace);
    expect(await explained(namespace, before, 'shop')).toMatch(/without the injection[^]*its replacement is injected/);
    expect(await explained(namespace, before, 'bank')).toMatch(/Windows[^]*nothing changes/);
    expect(await explain(namespace, 'deployment/shop')).toMatch(
      /Now: +0 of 2 pods run with the injection\. Without it: shop-[^ ]+, shop-[^ ]+\n[^]*Remedy: +Restart the workload/,
    );
    const excluding = { annotations: { [annotations.excludeContainers]: 'app' } };
    await testCluster.merge(statefulSet, namespace, 'db', { spec: { template: { metadata: excluding } } });
    for (const { metadata } of before) await cluster.client.delete({ ...pods, namespace, name: metadata.name });
    await eventually(
      async () => expect(await rolledOut(namespace)).toMatchObject({ status: 'True', reason: 'Complete', count: 2 }),
      { timeoutMs: 90_000 },
    );
    expect(await explained(namespace, await podsIn(namespace), 'shop')).toContain('runs with the injection');
  });

  it('are not counted again because the Lumigo of another namespace changes', async () => {
    const { testCluster, cluster, installation } = operator;
    const counted = await testCluster.namespace('counted');
    const other = await testCluster.namespace('other');
    await testCluster.activate(counted, podMode);
    await testCluster.activate(other);
    const counts = () =>
      operatorRequests(cluster, installation).filter(
        ({ verb, objectRef }) => verb === 'list' && objectRef?.resource === 'pods' && objectRef.namespace === counted,
      ).length;
    await eventually(() => expect(counts()).toBeGreaterThan(0));
    const before = await waitForRest(async () => counts(), 1_500);
    for (let round = 0; round < 3; round += 1) {
      await testCluster.changeLumigo(other, { spec: { logging: { enabled: round % 2 === 0 } } });
      await eventually(async () => {
        const { metadata, status } = await testCluster.readLumigo(other);
        expect(status?.observedGeneration).toBe(metadata.generation);
      });
      // A count follows a second after the change.
      await waitForRest(async () => counts(), 1_500);
    }
    // All are counted once a minute.
    expect(counts()).toBeLessThanOrEqual(before + 1);
  });
});
