import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { labels, lumigo, probeLabel, workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { createClient, type Client } from '../../runtime/kubernetes/http/client.ts';
import { findOwner } from '../../runtime/injection/eligibility.ts';
import type { Metadata } from '../../runtime/api/objects.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import type { Transport } from '../../runtime/kubernetes/http/transport.ts';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { apply, getCollection } from '../../sandbox/manager/apply.ts';
import { install } from '../../sandbox/manager/install.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { everyKind, createWorkload } from '../../sandbox/testing/workloads.ts';
import { operatorUser } from './access.ts';
import { synthesize } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';

/** The webhooks point at a closed port and must not fail here, so a failed request names the one that was called. */

const settings = parseSettings({ webhook: { excludedNamespaces: ['ci'] } });
const namespace = 'shop';
const dryRun = { dryRun: true } as const;

let cluster: ControlPlane;
let admin: Client;
let operator: Client;
let operatorTransport: Transport;

function withoutAnswer(manifest: Manifest): Manifest {
  const webhooks = (manifest['webhooks'] as readonly object[]).map((webhook) => ({
    ...webhook,
    clientConfig: { url: 'https://127.0.0.1:1/' },
    failurePolicy: 'Fail',
  }));
  return { ...manifest, webhooks };
}

async function calledBy(request: Promise<unknown>): Promise<string | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    const called = /failed calling webhook "([^"]+)"/.exec((error as Error).message)?.[1];
    if (called === undefined) throw error;
    return called;
  }
}

const injector = 'injector.operator.lumigo.io';
const patched = (client: Client, kind: WorkloadKind, name: string, body: object): Promise<string | undefined> =>
  calledBy(client.patch({ ...kind, namespace, name }, { kind: 'merge', body }, dryRun));

const created = (manifest: Manifest): Promise<string | undefined> =>
  calledBy(admin.create(getCollection(manifest), manifest, dryRun));

const restarted = { metadata: { annotations: { restartedAt: 'now' } } };
const inTemplate = ({ template }: WorkloadKind, body: object): object =>
  template.reduceRight<object>((inner, key) => ({ [key]: inner }), body);

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  admin = cluster.client;
  operatorTransport = connectTo(cluster, { as: operatorUser(settings) });
  operator = createClient(operatorTransport);
  // The guard would refuse the test's writes with the operator's account.
  await install(admin, { settings: { guard: 'None' } });
  for (const name of [namespace, 'ci']) await apply(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const [, kind] of everyKind) {
    await admin.create({ ...kind, namespace }, createWorkload(kind, namespace, 'labelled'));
    const bare = createWorkload(kind, namespace, 'bare');
    await admin.create({ ...kind, namespace }, { ...bare, metadata: { namespace, name: 'bare' } });
    const leaving = createWorkload(kind, namespace, 'leaving');
    const metadata = { ...leaving.metadata, finalizers: ['example.com/hold'] };
    await admin.create({ ...kind, namespace }, { ...leaving, metadata });
    await admin.delete({ ...kind, namespace, name: 'leaving' });
  }
  await apply(admin, getLumigo(namespace));
  const configuration = synthesize(settings).find(({ kind }) => kind === 'MutatingWebhookConfiguration') as Manifest;
  await apply(admin, withoutAnswer(configuration));
  await eventually(async () =>
    expect(await created(createWorkload(workloadKinds.deployment, namespace, 'probe'))).toBe(injector),
  );
});

afterAll(async () => {
  operatorTransport.close();
  await cluster.stop();
});

describe.each(everyKind)('for a %s, the injector', (_name, kind) => {
  it('is called when it is created, with labels or without', async () => {
    const manifest = createWorkload(kind, namespace, 'new');
    expect(await created(manifest)).toBe(injector);
    expect(await created({ ...manifest, metadata: { namespace, name: 'new' } })).toBe(injector);
  });

  it.each(['labelled', 'bare'])('is called when the pod template or label of a %s one changes', async (name) => {
    for (const body of [
      inTemplate(kind, { spec: { terminationGracePeriodSeconds: 7 } }),
      inTemplate(kind, restarted),
      { metadata: { labels: { [labels.autoTrace]: 'false' } } },
    ])
      expect([body, await patched(admin, kind, name, body)]).toEqual([body, injector]);
  });

  it.each(['labelled', 'bare'])('is not called for other changes of a %s one', async (name) => {
    for (const metadata of [
      { labels: { team: 'a' } },
      { annotations: { note: 'b' } },
      { finalizers: ['example.com/x'] },
    ])
      expect(await patched(admin, kind, name, { metadata })).toBeUndefined();
    const ref = { ...kind, namespace, name, subresource: 'status' };
    const status = { kind: 'merge', body: { metadata: { annotations: { note: 'c' } } } } as const;
    expect(await calledBy(admin.patch(ref, status, dryRun))).toBeUndefined();
  });

  it('is not called for writes of the operator', async () => {
    const patch = patched(operator, kind, 'labelled', inTemplate(kind, restarted));
    if (kind.mutable) expect(await patch).toBeUndefined();
    else await expect(patch).rejects.toMatchObject({ status: 403 });
  });

  it('is called by the probe of the operator, but only if the rule itself matches [F29]', async () => {
    if (!kind.mutable) return;
    const metadata = { labels: { [probeLabel]: 'x' } };
    const probe = { ...inTemplate(kind, { metadata: { annotations: { [probeLabel]: 'x' } } }), metadata };
    expect(await patched(operator, kind, 'bare', probe)).toBe(injector);
    expect(await patched(operator, kind, 'bare', { metadata })).toBeUndefined();
  });

  it('is not called for one that is being deleted', async () => {
    const changed = { metadata: { finalizers: null, labels: { [labels.autoTrace]: 'true' } } };
    expect(await patched(admin, kind, 'leaving', changed)).toBeUndefined();
  });

  it('is not called for those in a namespace of Kubernetes, the settings or the operator [D47]', async () => {
    for (const excluded of ['kube-system', 'kube-node-lease', 'kube-public', 'ci', settings.namespace])
      expect([excluded, await created(createWorkload(kind, excluded, 'new'))]).toEqual([excluded, undefined]);
  });
});

const { deployment, replicaSet, cronJob, job } = workloadKinds;

describe('the injector', () => {
  const owner = (apiVersion: string, kind: string, more: object = { controller: true }) => [
    { apiVersion, kind, name: 'owner', uid: 'u', ...more },
  ];
  it.each<readonly [string, WorkloadKind, readonly object[], boolean]>([
    ['a ReplicaSet of a Deployment', replicaSet, owner('apps/v1', 'Deployment'), false],
    ['a ReplicaSet of an Argo Rollout', replicaSet, owner('argoproj.io/v1alpha1', 'Rollout'), false],
    ['a ReplicaSet of a kind that is not instrumented', replicaSet, owner('example.com/v1', 'Deployment'), false],
    ['a ReplicaSet that a Deployment owns but does not control', replicaSet, owner('apps/v1', 'Deployment', {}), true],
    ['a Job of a CronJob', job, owner('batch/v1', 'CronJob'), false],
    ['a Job that a CronJob no longer controls', job, owner('batch/v1', 'CronJob', { controller: false }), true],
    ['a Job of a workflow', job, owner('example.com/v1', 'Workflow'), true],
    ['a Job with a second owner', job, [...owner('v1', 'ConfigMap', {}), ...owner('batch/v1', 'CronJob')], false],
    ['a Job without a list of owners', job, [], true],
    ['a Deployment that another Deployment controls', deployment, owner('apps/v1', 'Deployment'), true],
    ['a CronJob that a Deployment controls', cronJob, owner('apps/v1', 'Deployment'), true],
  ])('decides about %s as the webhook does [F74]', async (_what, kind, ownerReferences, isCalled) => {
    const { metadata, ...rest } = createWorkload(kind, namespace, 'owned');
    expect(await created({ ...rest, metadata: { ...metadata, ownerReferences } } as Manifest)).toBe(
      isCalled ? injector : undefined,
    );
    expect(findOwner(kind.kind, { ownerReferences } as unknown as Metadata) === undefined).toBe(isCalled);
  });

  it('is not called for changes of a ReplicaSet that a Deployment controls [F74]', async () => {
    const { metadata, ...rest } = createWorkload(replicaSet, namespace, 'owned');
    const owned = { ...rest, metadata: { ...metadata, ownerReferences: owner('apps/v1', 'Deployment') } } as Manifest;
    await admin.create({ ...replicaSet, namespace }, owned);
    expect(await patched(admin, replicaSet, 'owned', inTemplate(replicaSet, restarted))).toBeUndefined();
  });
});

describe('for a Lumigo, its webhook', () => {
  const ref = { ...lumigo, namespace, name: 'lumigo' };
  const label = (a: string) => ({ kind: 'merge', body: { metadata: { labels: { a } } } }) as const;
  const lumigoes = 'lumigoes.operator.lumigo.io';

  it('is called when one is created, in any namespace', async () => {
    expect(await created(getLumigo(namespace, {}, 'second'))).toBe(lumigoes);
    expect(await created(getLumigo('kube-system'))).toBe(lumigoes);
  });

  it('is called by a dry run of the operator', async () => {
    expect(await calledBy(operator.patch(ref, label('b'), dryRun))).toBe(lumigoes);
  });

  it('is not called for real writes of the operator, which must not depend on it', async () => {
    expect(await calledBy(operator.patch(ref, label('b')))).toBeUndefined();
  });

  it('is not called for changes by others, dry runs included', async () => {
    expect(await calledBy(admin.patch(ref, label('c'), dryRun))).toBeUndefined();
    expect(await calledBy(admin.patch(ref, label('c')))).toBeUndefined();
  });
});
