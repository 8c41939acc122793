import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ResourceRef } from '../../runtime/kubernetes/http/paths.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { guardAnswer, lumigo, pods } from '../../runtime/contract.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { refusal, startGuarded, type GuardedCluster } from '../../sandbox/testing/guard/guarded-cluster.ts';

/** RBAC limits some of these objects by name, and none by content. */

const namespace = 'lumigo-system';
const name = 'lumigo-lumigo-operator';
const shop = 'shop';
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const roles = { ...rbac, plural: 'clusterroles', name: `${name}-controller-manager-role` };
const bindings = { ...rbac, plural: 'clusterrolebindings', name: `${name}-controller-manager-role` };
const account = { ...kinds.serviceAccounts, namespace, name: `${name}-controller-manager` };
const token = { ...account, subresource: 'token' };
const secrets = { ...kinds.secrets, namespace };
const certificates = { ...secrets, name: `${name}-webhook-certificates` };
const configMaps = { ...kinds.configMaps, namespace };
const record = { ...configMaps, name: `${name}-monitored-namespaces` };
const leases = { ...kinds.leases, namespace };
const webhook = { ...kinds.webhooks, name: `${name}-injector-webhook` };
const resource = { ...lumigo, namespace: shop, name: 'lumigo' };
const owner = (of: string) => [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: of, uid: 'u' }];

const data = { 'tls.crt': '', 'tls.key': '', 'ca.crt': '' };
const object = (apiVersion: string, kind: string, of: string, more: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: of },
  ...more,
});
const secret = (of: string, type: string) =>
  object('v1', 'Secret', of, { type, data: type.includes('tls') ? data : {} });
const accountToken = {
  ...secret('other', 'kubernetes.io/service-account-token'),
  metadata: { name: 'other', annotations: { 'kubernetes.io/service-account.name': 'default' } },
};
const withMetadata = (metadata: object) => {
  const made = secret('other', 'Opaque');
  return { ...made, metadata: { ...made.metadata, ...metadata } };
};
const getToken = (expirationSeconds: number) =>
  object('authentication.k8s.io/v1', 'TokenRequest', '', { spec: { expirationSeconds } });
const configMap = (of: string) => object('v1', 'ConfigMap', of);
const lease = (of: string) => object('coordination.k8s.io/v1', 'Lease', of);
const eviction = { ...pods, namespace: 'kube-system', name: 'x', subresource: 'eviction' };

let guarded: GuardedCluster;
beforeAll(async () => {
  guarded = await startGuarded({ monitoredNamespaces: [{ namespace: shop }] });
  const { client } = guarded.cluster;
  await apply(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: shop } });
  await apply(client, getLumigo(shop));
  await client.create(secrets, secret(certificates.name, 'kubernetes.io/tls') as never);
  await client.create(configMaps, configMap(record.name));
  const configuration = guarded.installation.manifests.find(({ kind }) => kind === 'MutatingWebhookConfiguration');
  if (configuration === undefined) throw new Error('there is no webhook configuration');
  await apply(client, configuration);
});
afterAll(() => guarded?.stop());

type Write = readonly [what: string, ref: ResourceRef, body: object];

const webhooksBut = async (change: (each: Record<string, unknown>, index: number) => object) => {
  const { webhooks } = (await guarded.cluster.client.get(webhook)) as unknown as {
    webhooks: readonly Record<string, unknown>[];
  };
  return { webhooks: webhooks.map(change) };
};
const caBundle = Buffer.from(
  '-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIBADAKBggqhkjOPQQDAjAAMB4XDTI2MDEwMTAwMDAwMFoX\n-----END CERTIFICATE-----\n',
).toString('base64');

const merge = (ref: ResourceRef, body: object) =>
  guarded.manager.patch(ref as never, { kind: 'merge', body }, { dryRun: true });
const create = (ref: ResourceRef, body: object) => guarded.manager.create(ref, body as never, { dryRun: true });

const patched: readonly Write[] = [
  ['a finalizer of its role', roles, { metadata: { finalizers: ['operator.lumigo.io/clean-up'] } }],
  ['a finalizer of the binding', bindings, { metadata: { finalizers: ['operator.lumigo.io/clean-up'] } }],
  ['a finalizer of its account', account, { metadata: { finalizers: ['operator.lumigo.io/clean-up'] } }],
  ['its turn', account, { metadata: { annotations: { 'operator.lumigo.io/cleaned-up-by': 'x' } } }],
  ['the owner of the binding', bindings, { metadata: { ownerReferences: owner(roles.name) } }],
  ['the owner of its account', account, { metadata: { ownerReferences: owner(roles.name) } }],
  ['the owner of its record', record, { metadata: { ownerReferences: owner(roles.name) } }],
  ['its certificate', certificates, { data: { 'tls.crt': 'eA==' } }],
  ['the finalizer of a Lumigo', resource, { metadata: { finalizers: [lumigo.finalizer] } }],
  ['a probe of a Lumigo', resource, { metadata: { labels: { 'operator.lumigo.io/webhook-probe': 'x' } } }],
  ['the flags of a Lumigo', resource, { spec: { tracing: { enabled: false }, logging: { enabled: true } } }],
  ['the status of a Lumigo', { ...resource, subresource: 'status' }, { status: { instrumentedResourcesCount: 1 } }],
];

const subject = (of: string) => ({ kind: 'ServiceAccount', name: of, namespace: shop });
const evil: readonly Write[] = [
  ['fewer rules of its role', roles, { rules: [] }],
  ['a label of its role', roles, { metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } } }],
  ['another subject of its role', bindings, { subjects: [subject('evil')] }],
  ['a finalizer of others', bindings, { metadata: { finalizers: ['example.com/x'] } }],
  ['a foreign owner of the binding', bindings, { metadata: { ownerReferences: owner('cluster-admin') } }],
  ['the pull secrets of its account', account, { imagePullSecrets: [{ name: 'x' }] }],
  ['a foreign owner of its account', account, { metadata: { ownerReferences: owner('cluster-admin') } }],
  ['a foreign owner of its record', record, { metadata: { ownerReferences: owner('cluster-admin') } }],
  ['a label of its record', record, { metadata: { labels: { x: 'y' } } }],
  ['an annotation of its account', account, { metadata: { annotations: { 'eks.amazonaws.com/role-arn': 'x' } } }],
  ['another key of its certificate', certificates, { data: { other: 'eA==' } }],
  ['a label of its certificate', certificates, { metadata: { labels: { x: 'y' } } }],
  ['the Secret of a Lumigo', resource, { spec: { lumigoToken: { secretRef: { name: 'evil' } } } }],
  ['the injection of a Lumigo', resource, { spec: { tracing: { injection: { enabled: false } } } }],
  ['an annotation of a Lumigo', resource, { metadata: { annotations: { x: 'y' } } }],
];

describe('the guard over what the manager changes', () => {
  it.each(patched)('allows %s', async (_what, ref, body) => {
    expect(await refusal(merge(ref, body))).toBeUndefined();
  });

  it.each(evil)('refuses %s', async (_what, ref, body) => {
    expect(await refusal(merge(ref, body))).toContain(guardAnswer);
  });

  it('lets it add owners of its account, and remove no foreign one, such as that of OLM', async () => {
    const { client } = guarded.cluster;
    const { metadata } = await client.get(record);
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid: metadata.uid };
    await client.patch(account, { kind: 'merge', body: { metadata: { ownerReferences: [foreign] } } });
    const own = owner(roles.name);
    const answers = [[foreign, ...own], own].map((ownerReferences) =>
      refusal(merge(account, { metadata: { ownerReferences } })),
    );
    expect(await Promise.all(answers)).toEqual([undefined, expect.stringContaining(guardAnswer)]);
    await client.patch(account, { kind: 'merge', body: { metadata: { ownerReferences: [] } } });
  });

  it('lets it change the authority of its webhooks, and no other field of them', async () => {
    const bodies = await Promise.all([
      webhooksBut((each) => ({ ...each, clientConfig: { ...(each['clientConfig'] as object), caBundle } })),
      webhooksBut((each) => ({ ...each, clientConfig: { url: 'https://evil.example.com/' } })),
      webhooksBut((each) => ({ ...each, failurePolicy: 'Fail' })),
      webhooksBut((each) => ({ ...each, matchConditions: [] })),
      webhooksBut((each) => ({
        ...each,
        rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: '*' }],
      })),
      webhooksBut((each, index) => ({ ...each, name: `evil-${index}.example.com` })),
      Promise.resolve({ webhooks: [] }),
      Promise.resolve({ metadata: { labels: { x: 'y' } } }),
    ]);
    const answers = await Promise.all(bodies.map((body) => refusal(merge(webhook, body))));
    const [first, ...others] = answers.map((answer) => answer?.includes(guardAnswer));
    expect([first, new Set(others)]).toEqual([undefined, new Set([true])]);
  });
});

const made: readonly Write[] = [
  ['a token for an hour', token, getToken(3_600)],
  ['the Secret of a token', { ...secrets, namespace: shop }, secret('lumigo-credentials', 'Opaque')],
  ['its lease', leases, lease(`${name}-leader`)],
  ['a Lumigo', { ...lumigo, namespace: 'default' }, getLumigo('default')],
];

const unmade: readonly Write[] = [
  ['a token of a year', token, getToken(31_536_000)],
  ['another Secret of its namespace', secrets, secret('other', 'kubernetes.io/tls')],
  ['a certificate of another type', secrets, secret('other', 'Opaque')],
  ['a token of another account', secrets, accountToken],
  ['a token of an account elsewhere', { ...secrets, namespace: 'kube-system' }, accountToken],
  [
    'a Secret that Argo CD takes as the password of a cluster',
    { ...secrets, namespace: shop },
    withMetadata({ labels: { 'argocd.argoproj.io/secret-type': 'cluster' } }),
  ],
  ['an annotated Secret elsewhere', { ...secrets, namespace: shop }, withMetadata({ annotations: { x: 'y' } })],
  ['another account', { ...kinds.serviceAccounts, namespace }, object('v1', 'ServiceAccount', 'x')],
  ['another ConfigMap', configMaps, configMap('other')],
  ['another lease', leases, lease('other')],
  ['a Lumigo of another name', { ...lumigo, namespace: 'default' }, getLumigo('default', {}, 'other')],
  ['an eviction in kube-system', eviction, object('policy/v1', 'Eviction', eviction.name)],
];

describe('the guard over what the manager creates', () => {
  it.each(made)('allows %s', async (_what, ref, body) => {
    expect(await refusal(create(ref, body))).toBeUndefined();
  });

  it.each(unmade)('refuses %s', async (_what, ref, body) => {
    expect(await refusal(create(ref, body))).toContain(guardAnswer);
  });
});
