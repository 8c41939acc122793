import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { parse } from 'yaml';
import { lumigo } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { Transport } from '../../runtime/kubernetes/http/transport.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { toolOn } from '../../sandbox/e2e/tools.ts';
import { apply, applyDefinition, toRef } from '../../sandbox/manager/apply.ts';
import { getDefinitions } from '../../sandbox/programs/definitions.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { bundleFiles } from '../olm/bundle.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';

let cluster: ControlPlane;
let client: Client;
let transport: Transport;
const namespace = 'shop';
const manifests = synthesize(parseSettings({ monitoredNamespaces: [{ namespace }] }));

const everySetting = {
  name: 'other',
  namespace: 'other-system',
  platform: 'openshift',
  cluster: { name: 'production' },
  imagePullSecrets: [{ name: 'registry' }],
  nodeSelector: { global: { pool: 'system' } },
  tolerations: { global: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }] },
  podAnnotations: { note: 'x' },
  podLabels: { team: 'a' },
  priorityClassName: 'system-cluster-critical',
  injection: { imagePullPolicy: 'Always', imagePullSecrets: ['a', 'b'], updateOnUpgrade: true },
  ports: { webhook: 10_443 },
  webhook: { timeoutSeconds: 10, excludedNamespaces: ['kube-system', 'ci'] },
  hostNetwork: true,
  metrics: { dashboard: { enabled: true } },
  networkPolicy: { enabled: true, webhook: { from: [{ ipBlock: { cidr: '10.0.0.0/28' } }] }, metrics: { from: [] } },
  debug: { enabled: true },
  monitoredNamespaces: [{ namespace: 'default' }],
  clusterCollection: { logs: { enabled: true }, metrics: { enabled: true } },
  certificates: { issuer: 'delivery' },
  lumigoToken: { value: validToken },
  updater: { mode: 'upgrade', repository: 'https://charts.example', verify: { keyringSecret: 'lumigo-charts' } },
};

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  client = cluster.client;
  transport = connectTo(cluster);
  await apply(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const manifest of manifests) await eventually(() => apply(client, manifest));
});

afterAll(async () => {
  transport.close();
  await cluster.stop();
});

/** Applies objects that exist, with strict validation. */
async function expectUnchanged(objects: readonly Manifest[]): Promise<void> {
  for (const object of objects) {
    const { name, resourceVersion } = (await client.get(toRef(object))).metadata;
    expect(await apply(client, object)).toMatchObject({ kind: object.kind, metadata: { name, resourceVersion } });
  }
}

describe('the manifests', () => {
  it('change nothing when they are applied again', () => expectUnchanged(manifests));

  const delivered = { certificate: 'YQ==', key: 'Yg==', authority: 'Yw==' };
  it('are valid with every kind of setting, also those of a Helm release', async () => {
    const others = synthesize(parseSettings(everySetting), 'Helm', delivered);
    for (const manifest of others) await apply(client, manifest);
    await expectUnchanged(others);
  });

  it('keep what the operator writes into them later', async () => {
    const configuration = manifests.find(({ kind }) => kind === 'MutatingWebhookConfiguration') as Manifest;
    const clientConfig = { caBundle: Buffer.from(cluster.ca).toString('base64') };
    const webhooks = (configuration['webhooks'] as readonly { name: string }[]).map(({ name }) => ({
      name,
      clientConfig,
    }));
    const { name } = configuration.metadata;
    await apply(client, { ...configuration, metadata: { name }, webhooks } as Manifest, 'lumigo-operator');
    expect(JSON.stringify(await apply(client, configuration))).toContain(clientConfig.caBundle);
  });
});

describe('the pods of the Deployment', () => {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment') as Manifest;
  const { metadata, spec } = (deployment['spec'] as { template: { metadata: object; spec: object } }).template;
  const ownNamespace = deployment.metadata.namespace ?? '';
  const ref = { group: '', version: 'v1', plural: 'pods', namespace: ownNamespace };
  const pod = (more: object): Manifest => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'a-pod', namespace: ownNamespace },
    spec: { ...spec, ...more },
  });

  it('are admitted by the restricted Pod Security Standard, which their namespace enforces', async () => {
    await client.create(ref, pod({}), { dryRun: true });
    await expect(client.create(ref, pod({ securityContext: {} }), { dryRun: true })).rejects.toThrow(
      /violates PodSecurity "restricted:latest"/,
    );
  });
});

describe('a Lumigo', () => {
  const secretRef = { name: 'lumigo-credentials', key: 'token' };
  const lumigoes = { ...lumigo, namespace };
  const stored = async (spec: object) => {
    const options = { dryRun: true, fieldValidation: 'Strict' } as const;
    return (await client.create(lumigoes, getLumigo(namespace, spec), options)).object['spec'];
  };

  const defaults = {
    'tracing.enabled': true,
    'tracing.injection.enabled': true,
    'tracing.injection.injectLumigoIntoExistingResourcesOnCreation': true,
    'tracing.injection.removeLumigoFromResourcesOnDeletion': true,
    'logging.enabled': false,
    'infrastructure.enabled': true,
    'infrastructure.kubeEvents.enabled': true,
  };
  /** The original's definition does not have this field. */
  const added = { 'tracing.injection.mode': 'Workload' };

  function getSpec(values: Readonly<Record<string, unknown>>): object {
    const spec: Record<string, unknown> = {};
    for (const [path, value] of Object.entries(values)) {
      const keys = path.split('.');
      const last = keys.pop() ?? '';
      let at = spec;
      for (const key of keys) at = (at[key] ??= {}) as Record<string, unknown>;
      at[last] = value;
    }
    return spec;
  }

  it('accepts each field alone and all others without it, and gets the defaults of those left out', async () => {
    const fields = Object.entries(defaults);
    const others = fields.flatMap((field) => [[field], fields.filter((each) => each !== field)]);
    for (const subset of [[], fields, ...others]) {
      const given = Object.fromEntries(subset.map(([path, value]) => [path, !value]));
      const expected = getSpec({ ...defaults, ...added, ...given });
      expect(await stored(getSpec(given))).toEqual({ lumigoToken: { secretRef }, ...expected });
    }
  });

  it.each([
    { tracing: {}, logging: {}, infrastructure: {} },
    { tracing: { injection: {} }, infrastructure: { kubeEvents: {} } },
  ])('with the empty sections %j gets their defaults', async (spec) => {
    expect(await stored(spec)).toEqual({ lumigoToken: { secretRef }, ...getSpec({ ...defaults, ...added }) });
  });

  const setting = { name: 'OTEL_SERVICE_NAME', value: 'shop' };
  const key = { name: 'settings', key: 'key' };
  const toTracers = (...env: readonly object[]) => ({ tracing: { env } });
  const many = (length: number, value: string) =>
    toTracers(...Array.from({ length }, (_, index) => ({ name: `OTEL_${index}`, value })));
  const tier = { key: 'tier', operator: 'In', values: ['web'] };
  const selecting = (expression: object) => ({
    tracing: { injection: { selector: { matchLabels: { app: 'cart' }, matchExpressions: [expression] } } },
  });
  const labelled = (label: string) => ({ tracing: { injection: { selector: { matchLabels: { [label]: 'cart' } } } } });

  it.each([
    [
      'settings for tracers, as values and as references',
      toTracers(
        setting,
        { name: 'LUMIGO_SETTING_0', valueFrom: { secretKeyRef: key } },
        { name: 'LUMIGO_SETTING_1', valueFrom: { configMapKeyRef: key } },
      ),
    ],
    ['a selector', selecting(tier)],
    ['a selector with a key of 317 characters', labelled('a'.repeat(317))],
  ])('accepts %s', async (_what, spec) => {
    expect(await stored(spec)).toMatchObject(spec);
  });

  const fromSecret = (secret: object) => toTracers({ name: 'OTEL_A', valueFrom: { secretKeyRef: secret } });
  const fromField = { fieldRef: { fieldPath: 'metadata.name' } };
  const withToken = (reference: object) => ({ lumigoToken: { secretRef: reference } });
  const noName = 'must be the name of the Secret that contains the Lumigo token';

  it.each<[string, object, string]>([
    ['without a token', { lumigoToken: undefined }, 'spec.lumigoToken: Required value'],
    ['with an empty name', withToken({ name: '', key: 'token' }), noName],
    ['with a blank name', withToken({ name: ' ', key: 'token' }), noName],
    ['with an empty key', withToken({ name: 'a', key: '' }), 'must be the key of the Lumigo token in the Secret'],
    ['with no name', withToken({ key: 'token' }), 'spec.lumigoToken.secretRef.name: Required value'],
    ['with no key', withToken({ name: 'a' }), 'spec.lumigoToken.secretRef.key: Required value'],
    ['with a misspelt field', { logging: { enable: true } }, 'unknown field "spec.logging.enable"'],
    ['with a selector without values', selecting({ key: 'tier', operator: 'In' }), 'must have values for In and NotIn'],
    ['with a selector with needless values', selecting({ ...tier, operator: 'Exists' }), 'none for Exists'],
    ['with a selector with a key of 318 characters', labelled('a'.repeat(318)), 'keys of at most 317 characters'],
    ['with a selector of another operator', selecting({ ...tier, operator: 'Like' }), 'Unsupported value'],
    ['with a setting of another name', toTracers({ ...setting, name: 'PATH' }), "should match '^(LUMIGO|OTEL)_"],
    [
      'with a setting of the injection',
      toTracers({ ...setting, name: 'LUMIGO_ENDPOINT' }),
      'the injection sets itself',
    ],
    [
      'with a setting that has two sources',
      toTracers({ ...setting, valueFrom: { secretKeyRef: key } }),
      'value or valueFrom',
    ],
    ['with a setting without a value', toTracers({ name: 'OTEL_A' }), 'value or valueFrom'],
    ['with a setting with an empty value', toTracers({ ...setting, value: '' }), 'env[0].value'],
    ['with a setting with a line break', toTracers({ ...setting, value: 'a\nb' }), 'env[0].value'],
    ['with a setting from nothing', toTracers({ name: 'OTEL_A', valueFrom: {} }), 'secretKeyRef or configMapKeyRef'],
    ['with a setting from a field', toTracers({ name: 'OTEL_A', valueFrom: fromField }), 'fieldRef'],
    ['with a setting from an invalid name', fromSecret({ name: 'A b', key: 'k' }), 'secretKeyRef.name'],
    ['with a setting from an invalid key', fromSecret({ name: 'a', key: '..' }), 'secretKeyRef.key'],
    ['with the same setting twice', toTracers(setting, setting), 'Duplicate value'],
    ['with too many settings', many(33, 'x'), 'Too many'],
    ['with settings that are too long together', many(2, 'x'.repeat(3_000)), 'in total'],
  ])('%s is refused with a helpful message', async (_case, spec, words) => {
    await expect(stored(spec)).rejects.toThrow(words);
  });

  it('can still be changed if the original wrote its status', async () => {
    const name = 'from-the-original';
    await client.create(lumigoes, getLumigo(namespace, {}, name));
    const conditions = [{ type: 'Active', status: 'True', message: 'x', lastTransitionTime: '2023-05-02T10:00:00Z' }];
    const body = { status: { conditions, instrumentedResources: [] } };
    await client.patch({ ...lumigoes, name, subresource: 'status' }, { kind: 'merge', body });
    const finalizers = [lumigo.finalizer];
    const { object } = await client.patch({ ...lumigoes, name }, { kind: 'merge', body: { metadata: { finalizers } } });
    expect(object.metadata.finalizers).toEqual(finalizers);
    expect(object['status']).toMatchObject(body.status);
    await client.patch({ ...lumigoes, name }, { kind: 'merge', body: { metadata: { finalizers: null } } });
    await client.delete({ ...lumigoes, name });
  });

  it('has one condition of a type', async () => {
    await client.create(lumigoes, getLumigo(namespace));
    const condition = { type: 'Active', status: 'True' };
    const body = { status: { conditions: [condition, condition] } };
    const patch = client.patch({ ...lumigoes, name: 'lumigo', subresource: 'status' }, { kind: 'merge', body });
    await expect(patch).rejects.toThrow(/status\.conditions\[1\]: Duplicate value/);
  });

  it('shows in `kubectl get lum` if it works, how much it covers, and why [D49]', async () => {
    const conditions = [
      { type: 'Active', status: 'True', reason: 'Ready' },
      { type: 'Error', status: 'False', reason: 'NoError' },
      { type: 'Ready', status: 'False', reason: 'TokenRefused' },
      { type: 'RolledOut', status: 'True', reason: 'Complete' },
      { type: 'TokenAccepted', status: 'False', reason: 'TokenRefused' },
    ];
    const body = { status: { conditions, instrumentedResourcesCount: 7 } };
    await client.patch({ ...lumigoes, name: 'lumigo', subresource: 'status' }, { kind: 'merge', body });
    const { body: table } = await transport.request({
      method: 'GET',
      path: `/apis/${lumigo.apiVersion}/namespaces/${namespace}/lumigoes`,
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    const { columnDefinitions, rows } = table as Table;
    const columns = 'Name Active Ready Instrumented Rollout Token Reason Mode Age';
    expect(columnDefinitions.map(({ name }) => name).join(' ')).toBe(columns);
    const shown = ['lumigo', 'True', 'False', 7, 'Complete', 'TokenRefused', 'TokenRefused'];
    expect(rows.map(({ cells }) => cells.slice(0, shown.length))).toEqual([shown]);
  });

  it('has the short name lum', async () => {
    const { body } = await transport.request({ method: 'GET', path: `/apis/${lumigo.apiVersion}` });
    const { resources } = body as { resources: readonly { name: string; shortNames?: readonly string[] }[] };
    expect(resources.find(({ name }) => name === lumigo.plural)?.shortNames).toEqual([lumigo.shortName]);
    expect(resources.map(({ name }) => name)).toContain(`${lumigo.plural}/status`);
  });
});

const ofOthers = {
  certificates: { issuer: 'cert-manager' },
  metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
};
const certManager = ['Certificate', 'Certificate', 'Issuer', 'Issuer'];
const prometheus = ['PrometheusRule', 'ServiceMonitor'];

describe('with objects of cert-manager and of the Prometheus operator', () => {
  /** `helm/chart.cluster.test.ts` compares it with the constructs. */
  const chart = join('infra', 'renderings', 'chart');

  it('Helm names the missing definitions, and installs nothing without them', async () => {
    const flags = Object.entries(ofOthers).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
    const helm = await toolOn(cluster, 'helm');
    const missing = [
      ...certManager.map((kind) => `no matches for kind "${kind}" in version "cert-manager.io/v1"`),
      ...prometheus.map((kind) => `no matches for kind "${kind}" in version "monitoring.coreos.com/v1"`),
    ];
    expect(() => helm('install', 'lumigo', chart, '--namespace', 'helm', '--create-namespace', ...flags)).toThrow(
      new RegExp(missing.join('[^]*')),
    );
    for await (const { items } of client.pages({ ...kinds.serviceAccounts, namespace: 'helm' }))
      expect(items).toEqual([]);
    expect(helm('list', '--all-namespaces', '--output', 'json').trim()).toBe('[]');
  });

  it('every object is valid, and does not change when it is applied again', async () => {
    const definitions = [
      ...getDefinitions('cert-manager', ['certificates', 'issuers']),
      ...getDefinitions('prometheus', ['servicemonitors', 'prometheusrules']),
    ];
    for (const definition of definitions) await applyDefinition(client, definition);
    const all = synthesize(parseSettings({ createNamespace: false, namespace: 'default', ...ofOthers }));
    const own = all.filter(({ apiVersion }) => /^(cert-manager\.io|monitoring\.coreos\.com)\//.test(apiVersion));
    expect(own.map(({ kind }) => kind).toSorted()).toEqual([...certManager, ...prometheus]);
    for (const object of own) await apply(client, object);
    await expectUnchanged(own);
  });
});

describe("the ClusterServiceVersion of OLM's bundle", () => {
  it('is accepted by an API server, without an unknown field', async () => {
    for (const definition of getDefinitions('olm', ['clusterserviceversions']))
      await applyDefinition(client, definition);
    const files = Object.entries(bundleFiles(parseSettings({})));
    const [, text = ''] = files.find(([path]) => path.includes('clusterserviceversion')) ?? [];
    const csv = parse(text) as Manifest;
    await apply(client, { ...csv, metadata: { ...csv.metadata, namespace: 'default' } });
  });
});

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}
