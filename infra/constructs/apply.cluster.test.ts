import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { lumigo } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { Transport } from '../../runtime/kubernetes/http/transport.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { toolOn } from '../../sandbox/e2e/tools.ts';
import { apply, applyDefinition, getCollection, toRef } from '../../sandbox/manager/apply.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { getDefinitions } from '../../sandbox/programs/definitions.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
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
};

async function getVersions(objects: readonly Manifest[]): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const object of objects) {
    const live = await client.get({ ...getCollection(object), name: object.metadata.name });
    versions[`${object.kind}/${object.metadata.name}`] = live.metadata.resourceVersion;
  }
  return versions;
}

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

describe('the manifests', () => {
  it('change nothing when they are applied again', async () => {
    const before = await getVersions(manifests);
    for (const manifest of manifests) await apply(client, manifest);
    expect(await getVersions(manifests)).toEqual(before);
  });

  it('are valid with every kind of setting', async () => {
    const others = synthesize(parseSettings(everySetting));
    for (const manifest of others) await apply(client, manifest);
    const before = await getVersions(others);
    for (const manifest of others) await apply(client, manifest);
    expect(await getVersions(others)).toEqual(before);
  });

  it('keep what the operator writes into them later', async () => {
    const configuration = manifests.find(({ kind }) => kind === 'MutatingWebhookConfiguration') as Manifest;
    const ref = { ...getCollection(configuration), name: configuration.metadata.name };
    const caBundle = Buffer.from(cluster.ca).toString('base64');
    const webhooks = (configuration['webhooks'] as readonly { name: string }[]).map(({ name }) => ({
      name,
      clientConfig: { caBundle },
    }));
    const { apiVersion, kind, metadata } = configuration;
    const body = { apiVersion, kind, metadata: { name: metadata.name }, webhooks };
    await client.patch(ref, { kind: 'apply', body }, { fieldManager: 'lumigo-operator' });
    await apply(client, configuration);
    expect(JSON.stringify(await client.get(ref))).toContain(caBundle);
  });
});

/** `helm/chart.cluster.test.ts` compares it with the constructs. */
const chart = join('infra', 'renderings', 'chart');
const folder = createTemporaryFolder();

describe('the chart', () => {
  it('is accepted as strictly, whatever is enabled, and changes nothing a second time', async () => {
    const { helm = '' } = await ensureBinaries(['helm']);
    const values = {
      updater: { repository: 'https://charts.example', verify: { keyringSecret: 'lumigo-charts' } },
      networkPolicy: { enabled: true },
      lumigoToken: { value: `t_${'0'.repeat(21)}` },
      monitoredNamespaces: [{ namespace: 'default' }],
    };
    writeFileSync(join(folder, 'own.json'), JSON.stringify(values));
    const flags = ['--namespace', namespace, '--values', join(folder, 'own.json')];
    const { stdout } = spawnSync(helm, ['template', 'other', chart, ...flags], { encoding: 'utf8' });
    const objects = parseAllDocuments(stdout)
      .map((document) => document.toJS() as Manifest | null)
      .filter((each) => each !== null);
    expect(objects.length).toBeGreaterThan(24);
    for (const object of objects) await apply(client, object);
    const before = await getVersions(objects);
    for (const object of objects) await apply(client, object);
    expect(await getVersions(objects)).toEqual(before);
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
  const manifest = (spec: object, name = 'written-for-the-original'): Manifest => ({
    apiVersion: lumigo.apiVersion,
    kind: lumigo.kind,
    metadata: { name, namespace },
    spec,
  });
  const stored = async (spec: object) =>
    (
      await client.create(lumigoes, manifest({ lumigoToken: { secretRef }, ...spec }), {
        dryRun: true,
        fieldValidation: 'Strict',
      })
    ).object['spec'];

  const fields = [
    ['tracing.enabled', true],
    ['tracing.injection.enabled', true],
    ['tracing.injection.injectLumigoIntoExistingResourcesOnCreation', true],
    ['tracing.injection.removeLumigoFromResourcesOnDeletion', true],
    ['logging.enabled', false],
    ['infrastructure.enabled', true],
    ['infrastructure.kubeEvents.enabled', true],
  ] as const;

  function getSpec(values: readonly (readonly [string, unknown])[]): object {
    const spec: Record<string, unknown> = {};
    for (const [path, value] of values) {
      const keys = path.split('.');
      const last = keys.pop() ?? '';
      let at = spec;
      for (const key of keys) at = (at[key] ??= {}) as Record<string, unknown>;
      at[last] = value;
    }
    return spec;
  }

  /** The original's definition does not have these fields. */
  const added = [['tracing.injection.mode', 'Workload']] as const;

  it('accepts each field alone and all others without it, and gets the defaults of those left out', async () => {
    const paths = fields.map(([path]) => path);
    const subsets = [[], paths, ...paths.flatMap((path) => [[path], paths.filter((each) => each !== path)])];
    for (const given of subsets) {
      const own = fields.map(([path, value]) => [path, given.includes(path) ? !value : value] as const);
      const expected = getSpec([...own, ...added]);
      expect(await stored(getSpec(own.filter(([path]) => given.includes(path))))).toEqual({
        lumigoToken: { secretRef },
        ...expected,
      });
    }
  });

  it.each([
    { tracing: {} },
    { tracing: { injection: {} } },
    { logging: {} },
    { infrastructure: {} },
    { infrastructure: { kubeEvents: {} } },
  ])('with the empty section %j gets its defaults', async (spec) => {
    expect(await stored(spec)).toEqual({ lumigoToken: { secretRef }, ...getSpec([...fields, ...added]) });
  });

  it.each([
    ['an empty name', { name: '', key: 'token' }, 'must be the name of the Secret that contains the Lumigo token'],
    ['a blank name', { name: ' ', key: 'token' }, 'must be the name of the Secret that contains the Lumigo token'],
    ['an empty key', { name: 'a', key: '' }, 'must be the key of the Lumigo token in the Secret'],
    ['no name', { key: 'token' }, 'spec.lumigoToken.secretRef.name: Required value'],
    ['no key', { name: 'a' }, 'spec.lumigoToken.secretRef.key: Required value'],
  ])('with %s is refused with a helpful message', async (_case, reference, words) => {
    await expect(stored({ lumigoToken: { secretRef: reference } })).rejects.toThrow(words);
  });

  const setting = { name: 'OTEL_SERVICE_NAME', value: 'shop' };
  const key = { name: 'settings', key: 'key' };
  const many = (length: number, value: string) =>
    Array.from({ length }, (_, index) => ({ name: `OTEL_${index}`, value }));

  it('accepts settings for tracers, as values and as references', async () => {
    const valueFrom = [{ secretKeyRef: key }, { configMapKeyRef: key }];
    const references = valueFrom.map((each, index) => ({ name: `LUMIGO_SETTING_${index}`, valueFrom: each }));
    const spec = await stored({ tracing: { env: [setting, ...references] } });
    expect(spec).toMatchObject({ tracing: { env: [setting, ...references] } });
  });

  it.each<[string, readonly object[], string]>([
    ['of another name', [{ ...setting, name: 'PATH' }], "should match '^(LUMIGO|OTEL)_"],
    ['that the injection sets', [{ ...setting, name: 'LUMIGO_ENDPOINT' }], 'that the injection sets itself'],
    ['with a value and a reference', [{ ...setting, valueFrom: { secretKeyRef: key } }], 'value or valueFrom'],
    ['without a value', [{ name: 'OTEL_A' }], 'value or valueFrom'],
    ['with an empty value', [{ name: 'OTEL_A', value: '' }], 'env[0].value'],
    ['with a line break', [{ name: 'OTEL_A', value: 'a\nb' }], 'env[0].value'],
    ['from nothing', [{ name: 'OTEL_A', valueFrom: {} }], 'secretKeyRef or configMapKeyRef'],
    ['from a field', [{ name: 'OTEL_A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }], 'fieldRef'],
    ['from an invalid name', [{ name: 'OTEL_A', valueFrom: { secretKeyRef: { name: 'A b', key: 'k' } } }], 'name'],
    ['from an invalid key', [{ name: 'OTEL_A', valueFrom: { secretKeyRef: { name: 'a', key: '..' } } }], 'key'],
    ['that is there twice', [setting, setting], 'Duplicate value'],
    ['too many times', many(33, 'x'), 'Too many'],
    ['that is too long together', many(2, 'x'.repeat(3_000)), 'in total'],
  ])('refuses a setting for tracers %s', async (_case, env, words) => {
    await expect(stored({ tracing: { env } })).rejects.toThrow(words);
  });

  it('accepts a selector, and refuses one that cannot be meant', async () => {
    const withExpression = (expression: object) =>
      stored({
        tracing: { injection: { selector: { matchLabels: { app: 'cart' }, matchExpressions: [expression] } } },
      });
    const valid = { key: 'tier', operator: 'In', values: ['web'] };
    expect(await withExpression(valid)).toMatchObject({
      tracing: { injection: { selector: { matchExpressions: [valid] } } },
    });
    await expect(withExpression({ key: 'tier', operator: 'In' })).rejects.toThrow('must have values for In and NotIn');
    await expect(withExpression({ ...valid, operator: 'Exists' })).rejects.toThrow('none for Exists');
    await expect(withExpression({ ...valid, operator: 'Like' })).rejects.toThrow('Unsupported value');
  });

  it('without a token is refused', async () => {
    await expect(client.create(lumigoes, manifest({}), { dryRun: true })).rejects.toThrow(
      'spec.lumigoToken: Required value',
    );
  });

  it('with a misspelt field is refused by strict validation', async () => {
    await expect(stored({ tracing: { injection: { enable: true } } })).rejects.toThrow(
      /unknown field "spec\.tracing\.injection\.enable"/,
    );
  });

  it('can still be changed if the original wrote its status', async () => {
    const name = 'from-the-original';
    await client.create(lumigoes, manifest({ lumigoToken: { secretRef } }, name));
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
    await client.create(lumigoes, manifest({ lumigoToken: { secretRef } }, 'lumigo'));
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
    const { columnDefinitions, rows } = table as {
      columnDefinitions: readonly { name: string }[];
      rows: readonly { cells: readonly unknown[] }[];
    };
    expect(columnDefinitions.map(({ name }) => name)).toEqual([
      'Name',
      'Active',
      'Ready',
      'Instrumented',
      'Rollout',
      'Token',
      'Reason',
      'Mode',
      'Age',
    ]);
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

const certManager = { certificates: { issuer: 'cert-manager' } };
const prometheus = {
  metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboard: { enabled: true } },
};
/** The kinds of each maker are in the order in which Helm names them. */
const makers = [
  ['cert-manager', 'cert-manager.io', certManager, { Certificate: 2, Issuer: 2 }],
  ['prometheus', 'monitoring.coreos.com', prometheus, { PrometheusRule: 1, ServiceMonitor: 1 }],
] as const;
const plurals = { 'cert-manager': ['certificates', 'issuers'], prometheus: ['servicemonitors', 'prometheusrules'] };

describe.each(makers)('with %s', (maker, group, settings, counts) => {
  const all = synthesize(parseSettings({ createNamespace: false, namespace: 'default', ...settings }));
  const own = all.filter(({ apiVersion }) => apiVersion.startsWith(`${group}/`));

  it('Helm names the missing definitions, and installs nothing without them', async () => {
    const flags = Object.entries(settings).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
    const args = ['install', 'lumigo', chart, '--namespace', maker, '--create-namespace', ...flags];
    const helm = await toolOn(cluster, 'helm');
    const each = Object.keys(counts).map((kind) => `no matches for kind "${kind}" in version "${group}/v1"[^]*`);
    expect(() => helm(...args)).toThrow(new RegExp(each.join('')));
    const account = { ...kinds.serviceAccounts, namespace: maker };
    for await (const { items } of client.pages(account)) expect(items).toEqual([]);
    expect(helm('list', '--all-namespaces', '--output', 'json').trim()).toBe('[]');
  });

  it('every object is valid, and does not change when it is applied again', async () => {
    for (const definition of getDefinitions(maker, plurals[maker])) await applyDefinition(client, definition);
    expect(
      Object.fromEntries(Object.keys(counts).map((each) => [each, own.filter(({ kind }) => kind === each).length])),
    ).toEqual(counts);
    for (const manifest of own) {
      const { metadata } = await apply(client, manifest);
      expect((await apply(client, manifest)).metadata.resourceVersion).toBe(metadata.resourceVersion);
      expect((await client.get(toRef(manifest))).metadata.name).toBe(manifest.metadata.name);
    }
  });
});

describe("the objects of OLM's bundle", () => {
  const files = bundleFiles(parseSettings({}));
  const bundled = Object.entries(files)
    .filter(([path]) => path.startsWith('manifests/'))
    .map(([, text]) => parse(text) as Manifest);
  const first = parseAllDocuments(files['apply-first.yaml'] ?? '').map((each) => each.toJS() as Manifest);
  const isNamespaced = ({ kind }: Manifest): boolean =>
    kind === 'ClusterServiceVersion' || !/^(Cluster|Custom|PriorityClass|Mutating|Validating)/.test(kind);
  /** Applies with strict validation, into the namespace of the installation, as OLM does. */
  const applyIn = (object: Manifest): Promise<unknown> => {
    const ofInstallation = { ...object, metadata: { ...object.metadata, namespace: 'lumigo-system' } };
    return apply(client, isNamespaced(object) ? ofInstallation : object);
  };

  it('are accepted by an API server, as are the Deployment of its CSV and apply-first.yaml', async () => {
    const [definition] = getDefinitions('olm', ['clusterserviceversions']);
    if (definition === undefined) throw new Error('the module has no definition of a ClusterServiceVersion');
    await applyDefinition(client, definition);
    const { install } = bundled[0]?.['spec'] as { install: { spec: { deployments: readonly OfCsv[] } } };
    const deployments = install.spec.deployments.map(({ name, label, spec }) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels: label },
      spec,
    }));
    const all = [...first, ...bundled, ...deployments];
    expect(all.length).toBeGreaterThan(20);
    for (const object of all) await applyIn(object);
    const misspelled = { ...deployments[0], spec: { ...deployments[0]?.spec, replica: 2 } } as unknown as Manifest;
    await expect(applyIn(misspelled)).rejects.toThrow(/replica/);
  });
});

interface OfCsv {
  readonly name: string;
  readonly label: Record<string, string>;
  readonly spec: object;
}
