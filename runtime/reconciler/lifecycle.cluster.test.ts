import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import type { ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { runInContainer } from '../../sandbox/manager/command.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { eventually, nextSecond } from '../../sandbox/testing/eventually.ts';
import { startMutatingWebhook } from '../../sandbox/testing/mutating-webhook.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { changed, decided, made, withMetadata } from '../../sandbox/testing/injection.ts';
import { podMode } from '../../sandbox/testing/pod-policy.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';
import type { Workload } from '../api/objects.ts';
import { labels, workloadKinds } from '../contract.ts';
import { toTemplate } from '../injection/workload.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';

let sink: OtlpSink;
let operator: OperatorBench;
let proxy: ApiProxy;
let testCluster: OperatorBench['testCluster'];
beforeAll(async () => {
  // Without an answer about its token, the status of a Lumigo changes once more after 30 s.
  sink = await OtlpSink.start();
  const through = async (cluster: ControlPlane) => (proxy = await startApiProxy(cluster));
  operator = await startOperator({ config: { endpoint: sink.url }, through });
  ({ testCluster } = operator);
});
afterAll(async () => {
  await operator?.stop();
  await sink?.close();
});

const { deployment } = workloadKinds;
const injection = (settings: object) => ({ tracing: { injection: settings } });

function toTracing(workload: Workload) {
  const env = toTemplate(workload)?.spec.containers[0]?.env ?? [];
  const find = (wanted: string) => env.find(({ name }) => name === wanted);
  return {
    secret: find('LUMIGO_TRACER_TOKEN')?.valueFrom,
    traces: find('LUMIGO_ENABLE_TRACES')?.value,
    logs: find('LUMIGO_ENABLE_LOGS')?.value,
  };
}

const toOriginal = (workload: Workload) => ({
  template: JSON.stringify(toTemplate(workload)),
  labels: workload.metadata.labels,
  notes: Object.keys(workload.metadata.annotations ?? {}).filter((key) => key.includes('lumigo')),
});

describe('workloads that exist before the Lumigo', () => {
  it('are injected, listed, reported, changed with their Lumigo, and restored to the byte [D14]', async () => {
    const namespace = await testCluster.namespace('before');
    const env = [
      { name: 'LD_PRELOAD', value: '/mine.so' },
      { name: 'LUMIGO_ENDPOINT', value: 'http://mine' },
    ];
    const all = mutableKinds.map(([, kind]) => ({ kind, name: `old-${kind.plural}` }));
    for (const { kind, name } of all) await testCluster.create(createWorkload(kind, namespace, name, { env }));
    const read = () => Promise.all(all.map(({ kind, name }) => testCluster.get(kind, namespace, name)));
    const before = await read();
    await testCluster.activate(namespace);
    for (const { kind, name } of all) await testCluster.waitForInstrumented(kind, namespace, name);
    const listed = before.map(({ kind, metadata: { name, uid } }) => expect.objectContaining({ kind, name, uid }));
    await eventually(async () => {
      const { status } = await testCluster.readLumigo(namespace);
      expect(status?.instrumentedResourcesCount).toBe(all.length);
      expect(status?.instrumentedResources).toEqual(expect.arrayContaining(listed));
    });
    await testCluster.secret(namespace, undefined, 'other');
    await testCluster.changeLumigo(namespace, {
      spec: { lumigoToken: { secretRef: { name: 'other' } }, logging: { enabled: true }, tracing: { enabled: false } },
    });
    const changed = { secret: { secretKeyRef: { name: 'other' } }, traces: 'false', logs: 'true' };
    await eventually(async () => expect((await read()).map(toTracing)).toMatchObject(all.map(() => changed)));
    await testCluster.deleteLumigo(namespace);
    expect((await read()).map(toOriginal)).toEqual(before.map(toOriginal));
    for (const { name } of all)
      await eventually(async () =>
        expect(await testCluster.reasons(namespace, name)).toEqual([
          'LumigoAddedInstrumentation',
          'LumigoRemovedInstrumentation',
          'LumigoUpdatedInstrumentation',
        ]),
      );
  });

  it('are not changed if the Lumigo says so, and newer ones are', async () => {
    const namespace = await testCluster.namespace('existing');
    await testCluster.create(createWorkload(deployment, namespace, 'old'));
    await testCluster.activate(namespace, injection({ injectLumigoIntoExistingResourcesOnCreation: false }));
    await testCluster.waitForWebhook(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'new'));
    await testCluster.waitForInstrumented(deployment, namespace, 'new');
    expect(await testCluster.isInstrumented(deployment, namespace, 'old')).toBe(false);
  });
});

describe('the Secret of a Lumigo', () => {
  it('has a reason for each problem, and prevents injections until it is valid', async () => {
    const namespace = await testCluster.namespace('secrets');
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    await testCluster.lumigo(namespace);
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'SecretNotFound' });
    await testCluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'lumigo-credentials' },
      stringData: { other: 'x' },
    });
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'SecretKeyNotFound' });
    await testCluster.secret(namespace, `${validToken}\n`);
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'TokenMalformed' });
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
    await testCluster.create(createWorkload(deployment, namespace, 'while-inactive'));
    expect(await testCluster.isInstrumented(deployment, namespace, 'while-inactive')).toBe(false);
    await testCluster.secret(namespace);
    await testCluster.waitForCondition(namespace, 'Active', { reason: 'Ready' });
    await testCluster.waitForInstrumented(deployment, namespace, 'app');
    await testCluster.waitForInstrumented(deployment, namespace, 'while-inactive');
    const status = JSON.stringify((await testCluster.readLumigo(namespace)).status);
    expect(status).not.toContain(validToken);
  });
});

it('an injection stays if a tool sends clean containers again while the Lumigo has an error', async () => {
  const namespace = await testCluster.instrumented('mistyped');
  const read = () => testCluster.toTemplate(deployment, namespace, 'app');
  const before = await read();
  await testCluster.changeLumigo(namespace, { spec: { lumigoToken: { secretRef: { name: 'mistyped' } } } });
  await testCluster.waitForCondition(namespace, 'Active', { status: 'False', reason: 'SecretNotFound' });
  const send = (...containers: readonly object[]) =>
    testCluster.merge(deployment, namespace, 'app', { spec: { template: { spec: { containers } } } });
  await send({ name: 'app', image: 'app:1' });
  expect(await read()).toEqual(before);
  await send({ name: 'app', image: 'app:2' });
  expect(JSON.stringify(await read())).not.toContain('LD_PRELOAD');
});

it('no workload counts as missed by the webhook that the Lumigo did not ask for when it was created', async () => {
  const missed = () => operator.metric('lumigo_operator_missed_injections_total');
  const before = await missed();
  const namespace = await testCluster.namespace('left');
  const selector = { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['back'] }] };
  await testCluster.lumigo(namespace, injection({ selector }));
  await testCluster.waitForCondition(namespace, 'Error', { reason: 'SecretNotFound' });
  await nextSecond();
  const create = (name: string, tier = 'web') =>
    testCluster.create(createWorkload(deployment, namespace, name, { labels: { tier } }));
  await create('while-inactive');
  await testCluster.secret(namespace);
  await testCluster.waitForInstrumented(deployment, namespace, 'while-inactive');
  await testCluster.waitForWebhook(namespace);
  await nextSecond();
  await create('unselected', 'back');
  await create('selected');
  await eventually(async () =>
    expect((await testCluster.readLumigo(namespace)).status?.instrumentedResources).toHaveLength(2),
  );
  await testCluster.merge(deployment, namespace, 'unselected', { metadata: { labels: { tier: 'web' } } });
  await testCluster.waitForInstrumented(deployment, namespace, 'unselected');
  await testCluster.changeLumigo(namespace, { spec: injection({ enabled: false }) });
  await testCluster.waitForInstrumented(deployment, namespace, 'selected', false);
  await create('while-disabled');
  await testCluster.changeLumigo(namespace, { spec: injection({ enabled: true }) });
  await testCluster.waitForInstrumented(deployment, namespace, 'while-disabled');
  expect(await missed()).toBe(before);
});

it('the oldest Lumigo is in effect, then the next, and the others say why not [D15, D16]', async () => {
  const { withoutWebhook } = operator;
  const namespace = await testCluster.instrumented('heir');
  const before = await testCluster.get(deployment, namespace, 'app');
  const isUnchanged = async () => {
    const { metadata, ...rest } = await testCluster.get(deployment, namespace, 'app');
    expect(toTemplate({ metadata, ...rest })).toEqual(toTemplate(before));
    expect(metadata.labels).toEqual(before.metadata.labels);
    return metadata.generation;
  };
  await withoutWebhook(async () => {
    for (const name of ['younger', 'youngest']) {
      await nextSecond();
      await testCluster.lumigo(namespace, {}, name);
    }
  });
  for (const name of ['younger', 'youngest'])
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'DuplicateLumigo' }, name);
  await testCluster.deleteLumigo(namespace, 'youngest');
  await testCluster.waitForCondition(namespace, 'Active', { reason: 'Ready' });
  expect(await isUnchanged()).toBe(before.metadata.generation);
  await testCluster.deleteLumigo(namespace);
  await testCluster.waitForActive(namespace, 'younger');
  await isUnchanged();
});

describe('an excluded namespace', () => {
  it('has a Lumigo that says so, whose deletion removes earlier injections and changes nothing else', async () => {
    const injected = withMetadata(changed(decided(made({ labels: optIn }))), { namespace: 'kube-public' });
    await testCluster.create(injected as unknown as Manifest);
    await testCluster.create(createWorkload(deployment, 'kube-public', 'plain', { labels: optIn }));
    const before = await testCluster.get(deployment, 'kube-public', 'plain');
    await testCluster.secret('kube-public');
    await testCluster.lumigo('kube-public');
    await testCluster.waitForCondition('kube-public', 'Error', { reason: 'NamespaceExcluded' });
    expect(await testCluster.isInstrumented(deployment, 'kube-public', 'app')).toBe(true);
    await testCluster.deleteLumigo('kube-public');
    expect(await testCluster.isInstrumented(deployment, 'kube-public', 'app')).toBe(false);
    const { generation } = (await testCluster.get(deployment, 'kube-public', 'plain')).metadata;
    expect(generation).toBe(before.metadata.generation);
  });
});

describe('a workload that the API server refuses to change', () => {
  it('causes one event and retries, and delays no neighbour and no deletion forever [D11]', async () => {
    const { refuseChanges } = operator;
    const namespace = await testCluster.namespace('refused');
    await testCluster.create(createWorkload(deployment, namespace, 'stubborn', { labels: { stubborn: 'yes' } }));
    await testCluster.create(createWorkload(deployment, namespace, 'willing'));
    const relent = await refuseChanges(namespace, { stubborn: 'yes' });
    await testCluster.activate(namespace);
    await testCluster.waitForInstrumented(deployment, namespace, 'willing');
    await eventually(async () =>
      expect(await testCluster.reasons(namespace, 'stubborn')).toEqual(['LumigoCannotAddInstrumentation']),
    );
    await relent();
    await testCluster.waitForInstrumented(deployment, namespace, 'stubborn');
    const again = await refuseChanges(namespace, { stubborn: 'yes' });
    await testCluster.deleteLumigo(namespace);
    expect(await testCluster.isInstrumented(deployment, namespace, 'willing')).toBe(false);
    expect(await testCluster.label(deployment, namespace, 'stubborn')).toMatch(/^lumigo-operator/);
    expect(await testCluster.reasons(namespace, 'stubborn')).toContain('LumigoCannotRemoveInstrumentation');
    await again();
    await testCluster.merge(deployment, namespace, 'stubborn', {
      metadata: { labels: { [labels.autoTrace]: 'false' } },
    });
  });
});

describe('the deletion of a Lumigo that another writer changes all the time', () => {
  it('waits for the list, but not for a writer that never pauses', async () => {
    const make = async (prefix: string) => ({
      namespace: await testCluster.namespace(prefix),
      conflicts: 0,
      limit: Infinity,
    });
    const pausing = await make('pausing');
    // Its conflicts must not use up the few that `pausing` may have before the deletion.
    const all = [await make('endless'), pausing];
    for (const { namespace } of all) await testCluster.activate(namespace);
    const written: string[] = [];
    proxy.interfere = ({ method, path }) => {
      const one = all.find(({ namespace }) => path.includes(`/namespaces/${namespace}/`));
      if (one === undefined || method !== 'PATCH' || path.includes('dryRun')) return undefined;
      const isStatus = path.includes('/lumigo/status');
      if (isStatus && (one.conflicts += 1) <= one.limit) return { answer: 409 };
      if (one === pausing) written.push(isStatus ? 'status' : 'other');
      return undefined;
    };
    for (const { namespace } of all) {
      await testCluster.create(createWorkload(deployment, namespace, 'app'));
      await testCluster.waitForInstrumented(deployment, namespace, 'app');
    }
    written.length = 0;
    pausing.limit = pausing.conflicts + 8;
    await Promise.all(all.map(({ namespace }) => testCluster.deleteLumigo(namespace)));
    proxy.interfere = undefined;
    expect([written[0], pausing.conflicts > pausing.limit]).toEqual(['status', true]);
    for (const { namespace } of all) expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });
});

describe('a workload whose change a webhook denies', () => {
  it('as not found has an event, and delays the deletion until the deadline', async () => {
    const namespace = await testCluster.instrumented('denied');
    const endWebhook = await startMutatingWebhook({
      client: testCluster.client,
      name: 'denies',
      rule: { apiGroups: ['apps'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] },
      mutate: ({ metadata }) => (metadata.name === 'app' ? 404 : []),
      probe: createWorkload(deployment, namespace, 'probe'),
    });
    await testCluster.deleteLumigo(namespace).finally(endWebhook);
    expect(await testCluster.reasons(namespace, 'app')).toEqual([
      'LumigoAddedInstrumentation',
      'LumigoCannotRemoveInstrumentation',
    ]);
    await testCluster.waitForInstrumented(deployment, namespace, 'app', false);
  });
});

describe('without the setting for Pod mode', () => {
  it('there is no policy for pods, and a Lumigo says what it needs', async () => {
    const { installation } = operator;
    expect(JSON.stringify(installation.manifests)).not.toContain('pod-policy');
    const namespace = await testCluster.namespace('plain');
    await testCluster.secret(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'shop'));
    await testCluster.lumigo(namespace, podMode);
    await testCluster.waitForCondition(namespace, 'Error', { status: 'True', reason: 'PodModeOff' });
    await testCluster.waitForCondition(namespace, 'Active', { status: 'False' });
    expect(await testCluster.isInstrumented(deployment, namespace, 'shop')).toBe(false);
    await testCluster.changeLumigo(namespace, { spec: { tracing: { injection: { mode: 'Workload' } } } });
    await testCluster.waitForInstrumented(deployment, namespace, 'shop');
  });
});

const optIn = { [labels.autoTrace]: 'true' };
const definitions = kinds.customResourceDefinitions;
const group = 'security.openshift.io';
const constraints = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'things', singular: 'thing', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

async function getUser(name: string): Promise<unknown> {
  const namespace = await testCluster.instrumented(name);
  const { spec } = await testCluster.toTemplate(deployment, namespace, 'app');
  return spec.initContainers?.at(-1)?.securityContext?.runAsUser;
}

// The last ones: from then on, the API server has a group of OpenShift.
describe('the platform', () => {
  it('OpenShift is recognized by its group, also if the API server refuses at first [F24]', async () => {
    expect(await getUser('kubernetes')).toBe(1234);
    await operator.stopManager();
    await operator.cluster.client.create(definitions, constraints);
    const transport = connectTo(operator.cluster);
    await eventually(() => transport.request({ method: 'GET', path: `/apis/${group}` }));
    transport.close();
    let requests = 0;
    proxy.interfere = () => ((requests += 1) <= 3 ? { answer: 403 } : undefined);
    await operator.startManager();
    expect(await getUser('openshift')).toBeUndefined();
  });

  it('`lumigo explain` says that an LD_PRELOAD may be hidden [F24]', async () => {
    const { cluster, installation } = operator;
    const namespace = await testCluster.namespace('preload');
    await testCluster.activate(namespace);
    const workload = createWorkload(deployment, namespace, 'app');
    const [container = {}] = toTemplate(workload as unknown as Workload)?.spec.containers ?? [];
    Object.assign(container, { envFrom: [{ configMapRef: { name: 'shared', optional: true } }] });
    await testCluster.create(workload);
    const { stdout } = await runInContainer(cluster, installation, ['explain', 'deployment/app', '-n', namespace]);
    expect(stdout).toContain("an LD_PRELOAD from ConfigMap 'shared'");
  });
});
