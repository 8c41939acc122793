import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  annotations,
  labels,
  lumigo,
  originalLease,
  probeLabel,
  telemetryProxyFiles,
  workloadKinds,
  workloads,
} from '../../runtime/contract.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { getCollection } from '../../sandbox/manager/apply.ts';
import { withoutNodes } from '../../sandbox/manager/install.ts';
import { accountIn, type Account } from '../../sandbox/testing/account.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { eventually, nextSecond, waitForRest } from '../../sandbox/testing/eventually.ts';
import { OtlpSink } from '../../sandbox/otlp-sink/sink.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { getToken } from '../../sandbox/testing/telemetry.ts';
import { everyKind, createWorkload } from '../../sandbox/testing/workloads.ts';
import { userRoles } from './user-roles.ts';

let sink: OtlpSink;
let operator: OperatorBench;
let editor: Account;
let own = '';
let victim = '';
const ownToken = getToken(0xbad);
const victimToken = getToken(0x900d);
const { deployment } = workloadKinds;

beforeAll(async () => {
  // Without an answer about its token, the status of a Lumigo changes once more after 30 s.
  sink = await OtlpSink.start();
  operator = await startOperator({ settings: withoutNodes, config: { endpoint: sink.url } });
  const { testCluster, cluster } = operator;
  own = await testCluster.namespace('mallory');
  victim = await testCluster.namespace('shop');
  editor = await accountIn(cluster, own, 'edit');
  for (const [, kind] of everyKind)
    await testCluster.create(createWorkload(kind, victim, `a-${kind.kind.toLowerCase()}`));
  await testCluster.activate(victim, {}, victimToken);
  await testCluster.waitForInstrumented(deployment, victim, 'a-deployment');
  await testCluster.create(createWorkload(deployment, victim, 'cart'));
  // A Kubernetes controller aggregates the operator's rules into the role asynchronously.
  await eventually(() => editor.client.find({ ...lumigo, namespace: own, name: 'none' }));
  await testCluster.waitForCondition(victim, 'Ready', { status: 'True' });
  await waitForRest(versions, 3_000);
});
afterAll(async () => {
  editor?.close();
  await operator?.stop();
  await sink?.close();
});

const reading = ['get', 'list', 'watch'];
const changing = ['create', 'update', 'patch', 'delete', 'deletecollection'];

describe('the roles of users', () => {
  const namespace = 'roles';
  const groupsOfAccounts = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];

  /** Returns the verbs that the API server allows to an account with this role. */
  async function allowed(role: string, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const verbs = [...reading, ...changing];
    const answers = verbs.map(async (verb) => {
      const resourceAttributes = { group: lumigo.group, resource: lumigo.plural, namespace, verb, ...more };
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: { name: '' },
        spec: { user: `system:serviceaccount:${namespace}:the-${role}`, groups: groupsOfAccounts, resourceAttributes },
      };
      const { status } = await operator.testCluster.create(review);
      return (status as { allowed: boolean }).allowed ? [verb] : [];
    });
    return (await Promise.all(answers)).flat();
  }

  beforeAll(() => operator.testCluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }));

  it.each([
    ['admin', [...reading, ...changing]],
    ['edit', [...reading, ...changing]],
    ['view', reading],
  ])('let a `%s` read the status of its own Lumigo, %j the rest, and nothing elsewhere', async (role, expected) => {
    (await accountIn(operator.cluster, namespace, role)).close();
    // A Kubernetes controller aggregates the operator's rules into its roles asynchronously.
    await eventually(async () => expect(await allowed(role)).toEqual(expected));
    expect(await allowed(role, { subresource: 'status' })).toEqual(['get']);
    expect(await allowed(role, { namespace: victim })).toEqual([]);
  });

  it('grant no Secret', async () => {
    (await accountIn(operator.cluster, namespace, 'view')).close();
    await eventually(async () => expect(await allowed('view')).toEqual(reading));
    expect(await allowed('view', { group: '', resource: 'secrets' })).toEqual([]);
    expect(userRoles.flatMap(({ rules }) => rules.flatMap(({ apiGroups }) => apiGroups))).not.toContain('');
  });
});

async function versions(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const kind of [...workloads, { ...lumigo, addOn: undefined }, kinds.secrets, kinds.configMaps, kinds.events])
    for (const { metadata } of await listAll(operator.testCluster.client, { ...kind, namespace: victim }))
      found[`${kind.plural}/${metadata.name}`] = metadata.resourceVersion;
  const named = await operator.testCluster.client.get({ ...kinds.namespaces, name: victim });
  return { ...found, namespace: named.metadata.resourceVersion };
}

/** Those of the attacker and of the other namespace. */
function acceptedTokens(): readonly string[] {
  const folder = join(operator.cluster.dir, 'manager-0', 'telemetry-proxy');
  const tokens = readFileSync(join(folder, telemetryProxyFiles.tokens), 'utf8').split('\n');
  return tokens.filter((token) => token !== validToken).sort();
}

/** The leader instruments what exists already, after what it learned before. */
async function waitForWitness(): Promise<void> {
  const { testCluster } = operator;
  const namespace = await testCluster.namespace('witness');
  await testCluster.create(createWorkload(deployment, namespace, 'app'));
  await testCluster.activate(namespace);
  await testCluster.waitForInstrumented(deployment, namespace, 'app');
}

const object = (apiVersion: string, kind: string, name: string, more: object = {}): Manifest =>
  ({ apiVersion, kind, metadata: { name, namespace: own }, ...more }) as Manifest;

const deploymentWith = (name: string, metadata: object, template: object = {}): Manifest => {
  const made = createWorkload(deployment, own, name);
  const spec = made['spec'] as { template: { metadata?: object } };
  const forged = { ...spec.template, metadata: { ...spec.template.metadata, ...template } };
  return { ...made, metadata: { ...made.metadata, ...metadata }, spec: { ...spec, template: forged } };
};

const record = {
  endpoint: 'http://evil',
  secretName: 'lumigo-credentials',
  secretKey: 'token',
  traces: true,
  logs: false,
};
const name = 'lumigo-lumigo-operator';

/** @param real the operator's labels @param uid the other namespace's Deployment */
const getAttempts = (real: Manifest['metadata']['labels'], uid: string): Readonly<Record<string, Manifest>> => ({
  'a Lumigo that names the Secret of the other namespace': getLumigo(own),
  'a second Lumigo of the namespace': getLumigo(own, {}, 'other'),
  'a workload that opts in with a path to the other Secret': deploymentWith('opted-in', {
    labels: { [labels.autoTrace]: 'true', [labels.tokenSecret]: 'lumigo-credentials' },
  }),
  'a workload with a forged status and original state': deploymentWith(
    'forged',
    {
      annotations: {
        [annotations.instrumentation]: `added 2026-01-01T00:00:00.000Z by webhook; secret=${victim}/token traces=true logs=true`,
      },
    },
    { annotations: { [annotations.injection]: JSON.stringify(record) } },
  ),
  'a workload of the same name': deploymentWith('a-deployment', { labels: { [labels.autoTrace]: 'false' } }),
  'a workload that the other one owns': deploymentWith('owned', {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'a-deployment', uid, controller: true }],
  }),
  'a workload with the label of the probe': deploymentWith('probe', { labels: { [probeLabel]: 'x' } }),
  "a Deployment with the labels and the name of the operator's": deploymentWith(`${name}-controller-manager`, {
    labels: real,
  }),
  "an account with the name of the operator's": object('v1', 'ServiceAccount', `${name}-controller-manager`),
  'the Secret of the certificate': object('v1', 'Secret', `${name}-webhook-certificates`),
  'the ConfigMap of the marks': object('v1', 'ConfigMap', `${name}-monitored-namespaces`, { data: { x: '{}' } }),
});

const getLeases = (): readonly Manifest[] =>
  [`${name}-leader`, originalLease].map((lease) =>
    object('coordination.k8s.io/v1', 'Lease', lease, {
      spec: { holderIdentity: 'mallory', leaseDurationSeconds: 3600 },
    }),
  );

describe('an editor of a namespace', () => {
  it('changes nothing in another namespace by its rights in its own', async () => {
    const before = await versions();
    const { metadata } = await operator.testCluster.get(deployment, victim, 'a-deployment');
    const real = operator.installation.manifests.find(({ kind }) => kind === 'Deployment');
    for (const [what, manifest] of Object.entries(getAttempts(real?.metadata.labels, metadata.uid ?? ''))) {
      // Either Lumigo acts if both are created in one second.
      if (what.startsWith('a second')) await nextSecond();
      const outcome = await editor.client.create(getCollection(manifest), manifest).then(() => 'done', String);
      // The webhook refuses the second Lumigo if the first one is stored by then.
      if (!what.startsWith('a second')) expect([what, outcome]).toEqual([what, 'done']);
    }
    for (const lease of getLeases()) await editor.client.create(getCollection(lease), lease).catch(() => undefined);
    await operator.testCluster.waitForCondition(own, 'Active', { status: 'False' });
    await waitForWitness();
    expect(await versions()).toEqual(before);
    expect(acceptedTokens()).toEqual([victimToken]);
    expect(await operator.testCluster.condition(own, 'Active')).toMatchObject({ status: 'False' });
  });

  it('changes nothing there by its token, by toggling its Lumigo, and by removing everything', async () => {
    const before = await versions();
    const { client } = editor;
    const secret = object('v1', 'Secret', 'lumigo-credentials', { stringData: { token: ownToken } });
    await client.create(getCollection(secret), secret);
    await operator.testCluster.waitForActive(own);
    await eventually(() => expect(acceptedTokens()).toEqual([victimToken, ownToken].sort()));
    await operator.testCluster.waitForInstrumented(deployment, own, 'probe');
    const ref = { ...lumigo, namespace: own, name: 'lumigo' };
    for (const enabled of [false, true, false])
      await client.patch(ref, {
        kind: 'merge',
        body: { spec: { tracing: { injection: { enabled } }, logging: { enabled } } },
      });
    await client.patch(ref, { kind: 'merge', body: { metadata: { finalizers: [] } } });
    await client.delete(ref);
    // Kubernetes deletes one whose owner is in another namespace.
    for (const { metadata } of await listAll(client, { ...deployment, namespace: own }))
      await client.delete({ ...deployment, namespace: own, name: metadata.name }).catch(undefinedIfNotFound);
    await eventually(() => expect(acceptedTokens()).toEqual([victimToken]), { timeoutMs: 30_000 });
    await waitForWitness();
    expect(await versions()).toEqual(before);
  });

  it('does not stop a leader: another namespace is instrumented, also by the next leader', async () => {
    const { testCluster } = operator;
    await operator.stopManager();
    await operator.startManager();
    await testCluster.create(createWorkload(deployment, victim, 'later'));
    await testCluster.waitForInstrumented(deployment, victim, 'later');
    await eventually(async () => expect(await operator.metric('lumigo_operator_leader')).toBe(1), {
      timeoutMs: 30_000,
    });
  });
});
