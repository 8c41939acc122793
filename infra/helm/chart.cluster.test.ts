import fc from 'fast-check';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { originalRelease } from '../../sandbox/original/recorded.ts';
import { getProblems } from '../../sandbox/testing/settings-problems.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { annotations } from '../../runtime/contract.ts';
import { installWithHelm } from './installation-texts.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from '../constructs/manifest.ts';
import type { sentences } from '../settings/cross-field-rules.ts';
import { parseSettings } from '../settings/settings.ts';
import { needsKubernetes } from '../settings/cross-field-rules.ts';
import { settingEntries, type JsonSchema, type SettingEntry } from '../settings/tree.ts';
import { withdrawnSettings } from '../settings/withdrawn.ts';
import { writeChart } from './chart.ts';
import { withDocuments } from './merge.ts';
import { chartDefaults, valuesSchema } from './values.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

/** The chart, rendered by the real helm, must equal the constructs' objects for the same settings. */
let helm = '';
const chart = createTemporaryFolder();
const values = createTemporaryFolder();
beforeAll(async () => {
  helm = (await ensureBinaries(['helm']))['helm'] ?? '';
  writeChart(chart);
});

const run = (...args: readonly string[]) => spawnSync(helm, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

function writeValues(given: object): readonly string[] {
  const file = join(values, 'values.json');
  writeFileSync(file, JSON.stringify(given));
  return ['--values', file];
}

function render(...flags: readonly string[]): string {
  const { status, stdout, stderr } = run('template', 'lumigo', chart, '--namespace', 'lumigo-system', ...flags);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function template(...flags: readonly string[]): Record<string, Manifest> {
  return withoutCertificate(
    parseAllDocuments(render(...flags))
      .map((document) => document.toJS() as Manifest | null)
      .filter((each) => each !== null),
  );
}

const contradictory: Readonly<Record<keyof typeof sentences, object>> = {
  monitoredTwice: { monitoredNamespaces: [{ namespace: 'shop' }, { namespace: 'shop' }] },
  monitoredByWhat: { monitoredNamespaces: [{ namespace: 'shop', selector: {} }] },
  monitoredOwn: { monitoredNamespaces: [{ namespace: 'lumigo-system' }] },
  monitoredButExcluded: { monitoredNamespaces: [{ selector: {} }, { namespace: 'kube-system' }] },
  ownLabels: { podLabels: { 'app.kubernetes.io/name': 'x' } },
  sharedQueue: { controllerManager: { telemetryProxy: { queue: { claimName: 'telemetry' } } } },
  otherTag: { controllerManager: { telemetryProxy: { image: { tag: '0.140.0' } } } },
  takenPort: { ports: { webhook: 8080 } },
  kubeletPort: { ports: { webhook: 10_250 }, hostNetwork: true },
  idleIssuer: { certificates: { issuerRef: { name: 'internal' } } },
};

/** Helm generates another certificate each time, so comparisons replace it by this one. */
const certificate = { certificate: 'a', key: 'b', authority: 'c' };

function withoutCertificate(manifests: readonly Manifest[]): Record<string, Manifest> {
  const secret = manifests.find(({ type }) => type === 'kubernetes.io/tls') as
    (Manifest & { data: Record<string, string> }) | undefined;
  if (secret === undefined) return byName(manifests);
  const { 'tls.crt': crt = '', 'tls.key': key = '', 'ca.crt': ca = '' } = secret.data;
  const text = JSON.stringify(manifests)
    .replaceAll(`"${crt}"`, '"a"')
    .replaceAll(`"${key}"`, '"b"')
    .replaceAll(`"${ca}"`, '"c"');
  return byName(JSON.parse(text) as Manifest[]);
}

const synth = (given: object): Record<string, Manifest> =>
  byName(synthesize(parseSettings(merged({ createNamespace: false, ...chartDefaults }, given)), 'Helm', certificate));

const byName = (manifests: readonly Manifest[]): Record<string, Manifest> =>
  Object.fromEntries(
    manifests.map((manifest) => [
      `${manifest.kind}/${manifest.metadata.namespace ?? ''}/${manifest.metadata.name}`,
      withDocuments(manifest) as Manifest,
    ]),
  );

/** Values that differ from the default, where the type of the setting does not give one. */
const chosen: Readonly<Record<string, unknown>> = {
  'clusterCollection.logs.include': [{ namespacePattern: 'shop-*' }],
  'clusterCollection.logs.exclude': [{ podPattern: 'cart-*', containerPattern: 'app' }],
  'clusterCollection.metrics.essentialMetrics.names': ['kube_.+_labels'],
  'clusterCollection.metrics.frequency': '1m',
  'logFileCollector.queueSize': '64Mi',
  'logFileCollector.stateDirectory': '',
  'logFileCollector.priorityClassName': 'low',
  'kubeStateMetrics.address': 'metrics.monitoring.svc:8080',
  'injection.otherTracers': 'Inject',
  'telemetry.namespaceLabels': ['team', 'example.com/cost-center'],
  name: 'another',
  platform: 'openshift',
  guard: 'Audit',
  kubernetesClusterDomain: 'cluster.example',
  'cluster.name': 'production: "1e3" {a} <&> \\ {{.}} %v $(HOME) $$ # \n\té\u2028',
  'endpoint.otlp.url': 'http://collector.example:4318',
  'endpoint.otlp.logs_url': 'http://logs.example:4318',
  'endpoint.otlp.metrics_url': 'http://metrics.example:4318',
  instance: 'tracing',
  'controllerManager.manager.resources': { limits: { memory: '1Gi', 'example.com/gpu': 1 } },
  'controllerManager.telemetryProxy.image.tag': '0.152.0',
  'controllerManager.telemetryProxy.image.digest': '',
  'controllerManager.telemetryProxy.queue.shardSize': '64Mi',
  'controllerManager.telemetryProxy.queue.sizeLimit': '5Gi',
  'controllerManager.telemetryProxy.queue.claimName': 'telemetry',
  'injection.imagePullPolicy': 'Always',
  'injection.imagePullSecrets': ['one', 'two'],
  'injection.sidecars': ['proxy'],
  'rollout.strategy': 'manual',
  'webhook.excludedNamespaces': ['kube-public', 'ci'],
  'certificates.issuer': 'cert-manager',
  'certificates.issuerRef': { kind: 'ClusterIssuer', name: 'internal' },
  'lumigoToken.secretName': 'lumigo',
  'lumigoToken.secretKey': 'my-token',
  'lumigoToken.value': `t_${'1'.repeat(21)}`,
  monitoredNamespaces: [
    { namespace: 'shop' },
    { selector: { matchLabels: { team: 'a' } }, secretName: 'own', tracingEnabled: false, loggingEnabled: true },
  ],
  'updater.mode': 'check',
  'updater.schedule': '@weekly',
  'updater.repository': 'https://charts.example:8443/lumigo',
  'updater.versions': '>=1.2 <3',
  'updater.verify.keyringSecret': 'lumigo-charts',
  'updater.verify.unsigned': 'accept',
  'networkPolicy.webhook.from': [{ ipBlock: { cidr: '10.0.0.0/28', except: ['10.0.0.8/32'] } }],
  'networkPolicy.otlp.from': [{ namespaceSelector: {} }, { ipBlock: { cidr: '10.1.0.0/16' } }],
  'networkPolicy.metrics.from': [],
  imagePrefix: 'registry.example:5000/mirror/',
  imagePullSecrets: [{ name: 'registry' }],
  priorityClassName: 'high',
  podAnnotations: { note: 'yes', 'example.com/number': '1' },
  podLabels: { team: 'a' },
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
};

/** Values for each setting whose path contains the key. */
const usual: Readonly<Record<string, (path: string) => unknown>> = {
  '.image.repository': (path) => `registry.example:5000/${path.split('.')[0]?.toLowerCase()}`,
  '.image.tag': () => 'next',
  '.image.digest': () => `sha256:${'a'.repeat(64)}`,
  '.resources': () => ({ limits: { memory: '1Gi' } }),
  '.labels': () => ({ release: 'prometheus' }),
  'nodeSelector.': (path) => ({ pool: path }),
  'tolerations.': (path) => [{ key: path, operator: 'Exists', effect: 'NoSchedule' }],
};

function sampleOf({ path, type, fallback }: SettingEntry): unknown {
  if (path in chosen) return chosen[path];
  if (type === 'boolean') return fallback !== true;
  if (type === 'integer') return Number(fallback) + (path.startsWith('ports.') ? 10_000 : 1);
  const [, make] = Object.entries(usual).find(([part]) => path.includes(part)) ?? [];
  if (make === undefined) throw new Error(`${path} needs a value that differs from its default`);
  return make(path);
}

const ofTheRelease = ['namespace', 'createNamespace'];
const leaves = settingEntries().filter(({ path }) => !path.includes('[]') && !ofTheRelease.includes(path));
const samples = Object.fromEntries(leaves.map((entry) => [entry.path, sampleOf(entry)]));
const isOfNodes = (path: string): boolean =>
  /^(clusterCollection|logFileCollector|kubeStateMetrics|prometheusNodeExporter)|\.(clusterAgent|kubeStateMetrics)$/.test(
    path,
  );

/** Without a part that is collected, the other settings of the nodes have no effect. */
const nodeCompanions = Object.fromEntries(
  Object.keys(samples)
    .filter((path) => isOfNodes(path) && !/^clusterCollection\.\w+\.enabled$/.test(path))
    .map((path) => [path, { [`clusterCollection.${isOfLogs(path) ? 'logs' : 'metrics'}.enabled`]: true }]),
);

function isOfLogs(path: string): boolean {
  return path.startsWith('clusterCollection.logs') || path === 'logFileCollector.stateDirectory';
}

const companions: Readonly<Record<string, object>> = {
  ...nodeCompanions,
  // The value is the release's name, because the constructs' objects do not have it.
  name: { instance: 'lumigo' },
  'controllerManager.telemetryProxy.queue.claimName': { 'controllerManager.replicas': 1 },
  'certificates.issuerRef': { 'certificates.issuer': 'cert-manager' },
  ...Object.fromEntries(
    ['serviceMonitor', 'prometheusRule', 'silentWorkloadsRule', 'dashboard'].map((kind) => [
      `metrics.${kind}.labels`,
      { [`metrics.${kind}.enabled`]: true },
    ]),
  ),
  ...Object.fromEntries(
    Object.keys(samples)
      .filter((path) => path.startsWith('updater.'))
      .map((path) => [path, { 'updater.repository': 'https://charts.example/first' }]),
  ),
  'updater.repository': { 'updater.verify.unsigned': 'accept' },
  ...Object.fromEntries(
    ['webhook', 'otlp', 'metrics'].map((key) => [`networkPolicy.${key}.from`, { 'networkPolicy.enabled': true }]),
  ),
};

const GROUP = 36;

const nested = (path: string, value: unknown): object =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;

const merged = (a: object, b: object): object => {
  const result: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const there = result[key];
    const both = typeof there === 'object' && there !== null && typeof value === 'object' && value !== null;
    result[key] = both ? merged(there, value as object) : value;
  }
  return result;
};

/** Returns values with the samples of these paths, and what they need to have an effect. */
const together = (paths: readonly string[]): object =>
  paths
    .flatMap((path) => Object.entries({ ...companions[path], [path]: samples[path] }))
    .reduce((sum, [path, value]) => merged(sum, nested(path, value)), {});

/** Each setting is in three groups, with other settings in each. One that contradicts the group is in the next one. */
function dealGroups(): { number: number; paths: string[] }[] {
  const decks = fc.sample(fc.shuffledSubarray(Object.keys(samples), { minLength: Object.keys(samples).length }), {
    numRuns: 3,
    seed: 33,
  });
  const dealt: string[][] = [];
  for (const path of decks.flat()) {
    const group = dealt
      .slice(-4)
      .find((paths) => paths.length < GROUP && getProblems(together([...paths, path])).length === 0);
    if (group === undefined) dealt.push([path]);
    else group.push(path);
  }
  return dealt.map((paths, number) => ({ number, paths }));
}

function rendered() {
  const text = render();
  const of = (key: string) => Buffer.from(new RegExp(`${key}: "?([^"\\s]+)`).exec(text)?.[1] ?? '', 'base64');
  return {
    text,
    certificate: new X509Certificate(of('tls.crt')),
    authority: new X509Certificate(of('ca.crt')),
  };
}

const podModeOn = (version: string) => ['--set', 'injection.podMode=true', '--kube-version', version];

/** Values that Helm's schema refuses, and Helm's complaint. */
const misshapen: readonly (readonly [path: string, value: unknown, complaint: string])[] = [
  ['controlerManager', {}, "'controlerManager' not allowed"],
  ['debug.enable', true, "at '/debug': additional properties 'enable' not allowed"],
  ['controllerManager.replicas', 'many', "at '/controllerManager/replicas': got string, want integer"],
  ['rollout.concurrent', 0, "at '/rollout/concurrent': minimum: got 0, want 1"],
  ['logFileCollector.queueSize', '1Mi', "at '/logFileCollector/queueSize': '1Mi' does not match"],
  ['updater.repository', 'http://charts.example', "at '/updater/repository': 'http://charts.example' does not match"],
  ['monitoredNamespaces', [{ selector: { team: 'shop' } }], "'team' not allowed"],
  ['name', 'My_Name', "at '/name': 'My_Name' does not match"],
  ['fullnameOverride', 'a'.repeat(29), "at '/fullnameOverride': maxLength: got 29, want 28"],
  // The constructs have defaults for these, and Helm removes a key that is null.
  ['controllerManager.manager.image.tag', null, "at '/controllerManager/manager/image': missing property 'tag'"],
  ['ports.webhook', null, "at '/ports': missing property 'webhook'"],
  ['webhook.excludedNamespaces', null, "at '/webhook': missing property 'excludedNamespaces'"],
  ['metrics.secure', null, "at '/metrics': missing property 'secure'"],
  ...['kubernetesClusterDomain', 'certificates', 'kubeStateMetrics'].map((key) => [key, null, `'${key}'`] as const),
];

const isRequired = ({ properties, required }: JsonSchema, [key = '', ...more]: readonly string[]): boolean =>
  more.length > 0 ? isRequired(properties?.[key] ?? {}, more) : required?.includes(key) === true;

function getComplaint(release: string, ...flags: readonly string[]): string {
  const { status, stderr } = run('template', release, chart, ...flags);
  expect(status).not.toBe(0);
  return stderr;
}

describe('the Helm chart', () => {
  const byDefault = synth({});

  it('renders without any value what the constructs render by default', () => {
    expect(template()).toEqual(byDefault);
  });

  it('has samples that have an effect, but for one that is the default with another image', () => {
    const idle = Object.keys(samples).filter((path) => isDeepStrictEqual(synth(together([path])), byDefault));
    expect(idle).toEqual(['controllerManager.telemetryProxy.image.tag']);
  });

  // The chart merges renderings of single settings, so any few of them together could be merged wrongly.
  it.each(dealGroups())('renders group $number as the constructs do: $paths', ({ paths }) => {
    const given = together(paths);
    expect(template(...writeValues(given))).toEqual(synth(given));
  });

  it.each(['operator', 'external'])('renders a certificate issued by %s as the constructs do', (issuer) => {
    expect(template('--set', `certificates.issuer=${issuer}`)).toEqual(synth({ certificates: { issuer } }));
  });

  const repository = 'https://charts.example';
  it.each([
    ['upgrade', { repository, verify: { keyringSecret: 'charts' } }],
    ['upgrade', { repository, verify: { unsigned: 'accept' } }],
    ['upgrade', { repository }],
    ['upgrade', { repository: '', verify: { keyringSecret: 'charts', unsigned: 'accept' } }],
    ['check', { repository, verify: { keyringSecret: 'charts' } }],
    ['check', { repository: '' }],
    ['off', { repository }],
  ])('renders the updater that has the mode %s, with %j, as the constructs do [F60]', (mode, more) => {
    const updater = { mode, ...more };
    expect(template('--set-json', `updater=${JSON.stringify(updater)}`)).toEqual(synth({ updater }));
  });

  it('reads values without quotes, as the pages name them', () => {
    const file = join(values, 'values.yaml');
    writeFileSync(file, 'updater:\n  mode: off\nguard: None\n');
    expect(template('--values', file)).toEqual(synth({ updater: { mode: 'off' }, guard: 'None' }));
  });

  it('renders many settings at once as the constructs do', () => {
    const all = { ...samples, 'controllerManager.replicas': 1 };
    const given = Object.entries(all)
      .map(([path, value]) => nested(path, value))
      .reduce(merged);
    expect(template(...writeValues(given))).toEqual(synth(given));
  });

  it('renders an annotation of the user in place of one of the chart, and never a key twice', () => {
    const podAnnotations = { [annotations.safeToEvict]: 'own', 'kubectl.kubernetes.io/default-container': 'own' };
    const flags = writeValues({ podAnnotations });
    expect(parseAllDocuments(render(...flags)).flatMap(({ errors }) => errors)).toEqual([]);
    expect(template(...flags)).toEqual(synth({ podAnnotations }));
  });

  it('writes no $ into the configuration, because Kubernetes would expand it', () => {
    const logs = { enabled: true, include: [{ namespacePattern: 'a' }] };
    const given = { cluster: { name: '$(HOME)$$' }, monitoredNamespaces: [{ selector: { matchLabels: { a: '$$' } } }] };
    const text = render(...writeValues({ ...given, clusterCollection: { logs } }));
    const documents = [...text.matchAll(/name: LUMIGO_CONFIG\n +value: \|-\n([^]*?)\n +}/g)];
    expect(documents.length).toBeGreaterThan(2);
    expect(documents.filter(([, document = '$']) => document.includes('$'))).toEqual([]);
  });

  it('accepts `all` for every namespace [F54]', () => {
    expect(template('--set', 'monitoredNamespaces=all')).toEqual(synth({ monitoredNamespaces: 'all' }));
  });

  it('accepts all values of the original at once, except its images [F51]', () => {
    const { values: all } = originalRelease();
    const own = { image: { repository: 'own', tag: 'own' } };
    const proxy = { image: { ...own.image, digest: '' } };
    const given = merged(all, { controllerManager: { manager: own, telemetryProxy: proxy } });
    expect(run('template', 'lumigo', chart, ...writeValues(given))).toMatchObject({ status: 0, stderr: '' });
    expect(getComplaint('lumigo', ...writeValues(all))).toContain(
      'controllerManager.manager.image.tag is "69", a release of the original operator',
    );
  });

  it('names its objects after the release, and puts them into its namespace', () => {
    const { stdout } = run('template', 'tracing', chart, '--namespace', 'elsewhere');
    expect(stdout).toContain('name: "tracing-lumigo-operator-controller-manager"');
    expect(stdout).toContain('namespace: "elsewhere"');
    expect(stdout).not.toContain('lumigo-system');
    expect(stdout).not.toMatch(/xhelm|77000\d\d/);
    // The name of a Service may have no dot.
    const dotted = run('template', 'lumigo.prod', chart).stdout;
    expect(dotted).toContain('name: "lumigo-prod-lumigo-operator-webhooks-service"');
  });

  it('refuses values of another form, and names each', () => {
    const given = misshapen.map(([path, value]) => nested(path, value)).reduce(merged);
    const complaint = getComplaint('lumigo', ...writeValues(given));
    for (const [, , part] of misshapen) expect(complaint).toContain(part);
  });

  it('refuses a number at the start of the release’s name', () =>
    expect(getComplaint('1abc')).toContain('the name of the release is "1abc"'));

  it('refuses a Kubernetes version that is too old', () =>
    expect(getComplaint('lumigo', '--kube-version', '1.29.0')).toContain(
      'requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.0',
    ));

  it('refuses Pod mode on Kubernetes 1.35.4, and accepts it on 1.36.0', () => {
    expect(getComplaint('lumigo', ...podModeOn('1.35.4'))).toContain(needsKubernetes('v1.35.4'));
    expect(() => render(...podModeOn('1.36.0'))).not.toThrow();
  });

  it('ignores null if the original’s chart has an empty value there', () => {
    const schema = JSON.parse(valuesSchema()) as JsonSchema;
    const nullable = Object.keys(samples).filter((path) => !isRequired(schema, path.split('.')));
    const known = ['cluster.name', 'endpoint.otlp.logs_url', 'nodeSelector.global', 'monitoredNamespaces'];
    expect(nullable).toEqual(expect.arrayContaining(known));
    const nodes = { clusterCollection: { logs: { enabled: true }, metrics: { enabled: true } } };
    const given = [...nullable, 'fullnameOverride'].map((path) => nested(path, null)).reduce(merged, nodes);
    expect(template(...writeValues(given))).toEqual(synth(nodes));
  });

  it('removes a key from a map of Kubernetes’ own form by null', () => {
    const given = { controllerManager: { manager: { resources: { limits: { cpu: null } } } } };
    expect(template(...writeValues(given))).toEqual(synth(given));
  });

  const withdrawn = Object.keys(withdrawnSettings).map((path) => [path, nested(path, { configMap: 'mine' })] as const);
  const ofDashboard = [
    'ownLabels, on a dashboard',
    nested('metrics.dashboard.labels', { 'app.kubernetes.io/name': 'x' }),
  ] as const;
  it.each([...Object.entries(contradictory), ofDashboard, ...withdrawn])(
    'refuses what the constructs refuse, with the same sentence: %s',
    (_rule, settings) => {
      const [problem = ''] = getProblems(settings);
      expect(problem).not.toBe('');
      expect(getComplaint('lumigo', '--namespace', 'lumigo-system', ...writeValues(settings))).toContain(problem);
    },
  );

  it('issues another certificate each time, for a year, and keeps it in one object [D40, D41]', () => {
    const one = rendered();
    const other = rendered();
    expect(one.certificate.fingerprint256).not.toBe(other.certificate.fingerprint256);
    const { certificate: leaf, authority } = one;
    expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.checkHost('lumigo-lumigo-operator-webhooks-service.lumigo-system.svc')).toBeDefined();
    const days = (Date.parse(leaf.validTo) - Date.now()) / (24 * 3_600_000);
    expect([Math.ceil(days), leaf.ca, authority.ca]).toEqual([365, false, true]);
    expect(one.text).not.toContain('caBundle:');
    // Each replica reads a new certificate while it runs, so the pods do not change.
    const [pods = ''] = one.text.match(/^kind: "?Deployment[^]*?(?=^---)/m) ?? [];
    expect(pods).toContain('containers:');
    expect(other.text).toContain(pods);
  });

  it('renders the same each time if the operator issues the certificate [D41]', () => {
    const flags = ['--set', 'certificates.issuer=operator'];
    const one = render(...flags);
    expect(render(...flags)).toBe(one);
    expect(one).not.toContain('PRIVATE KEY');
  });

  it('explains every value in its README, and the next steps in its notes', () => {
    const readme = readFileSync(join(chart, 'README.md'), 'utf8');
    for (const path of Object.keys(samples).filter((each) => each !== 'name')) expect(readme).toContain(`\`${path}\``);
    expect(readme).toContain(installWithHelm());
  });
});
