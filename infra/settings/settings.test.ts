import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { getProblems } from '../../sandbox/testing/settings-problems.ts';
import { sentences } from './cross-field-rules.ts';
import { settingEntries } from './tree.ts';
import { loadSettings, parseSettings } from './settings.ts';
import { withdrawnSettings } from './withdrawn.ts';
import { getImageRepository } from './publisher.ts';
import { operatorVersion } from './version.ts';
import { parseQuantity } from '../../runtime/injection/quantity.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

describe('the defaults', () => {
  it('are those that the original operator and its documentation promise', () => {
    expect(parseSettings({})).toMatchObject({
      name: 'lumigo-lumigo-operator',
      namespace: 'lumigo-system',
      kubernetesClusterDomain: 'cluster.local',
      endpoint: { otlp: { url: 'https://ga-otlp.lumigo-tracer-edge.golumigo.com' } },
      injectorWebhook: { lumigoInjector: { image: { repository: 'public.ecr.aws/lumigo/lumigo-autotrace' } } },
      controllerManager: { replicas: 2, manager: { image: { tag: operatorVersion() } } },
      webhook: { timeoutSeconds: 5, excludedNamespaces: ['kube-system', 'kube-node-lease', 'kube-public'] },
      debug: { enabled: false },
    });
  });

  it('leave room in a queue for sixteen full shards, at two bytes on disk for each', () => {
    const { shardSize, sizeLimit } = parseSettings({}).controllerManager.telemetryProxy.queue;
    expect(16 * 2 * (parseQuantity(shardSize) ?? NaN)).toBeLessThanOrEqual(parseQuantity(sizeLimit) ?? NaN);
  });

  it('apply if the file is empty', () => {
    expect(parseSettings(null)).toEqual(parseSettings({}));
  });

  it('have documentation each', () => {
    const paths = settingEntries().map(({ path }) => path);
    const leaves = (value: unknown, path: string): string[] =>
      paths.includes(path)
        ? [path]
        : Object.entries(value as object).flatMap(([key, child]) =>
            leaves(child, path === '' ? key : `${path}.${key}`),
          );
    expect(leaves(parseSettings({}), '')).toEqual(paths.filter((path) => !path.includes('[]')));
  });
});

describe('what is given', () => {
  it('replaces its default and leaves the others', () => {
    const { controllerManager } = parseSettings({ controllerManager: { manager: { image: { tag: 'next' } } } });
    expect(controllerManager.manager.image).toEqual({
      repository: getImageRepository('lumigo-kubernetes-operator'),
      tag: 'next',
      digest: '',
    });
    expect(controllerManager.replicas).toBe(2);
  });

  it('is merged into maps key by key, replaces lists, and removes a key by null', () => {
    const settings = parseSettings({
      controllerManager: { manager: { resources: { limits: { cpu: null, memory: '1Gi' } } } },
      injection: { sidecars: ['mesh'] },
      affinity: { nodeAffinity: null, podAntiAffinity: {} },
    });
    expect(settings.controllerManager.manager.resources).toEqual({
      requests: { cpu: '50m', memory: '128Mi' },
      limits: { memory: '1Gi' },
    });
    expect(settings.injection.sidecars).toEqual(['mesh']);
    expect(settings.affinity).toEqual({ podAntiAffinity: {} });
  });

  it('is passed on unchanged if it has the form of Kubernetes', () => {
    const global = [{ key: 'dedicated', operator: 'Exists', aFieldOfTheFuture: { x: [1] } }];
    expect(parseSettings({ tolerations: { global } }).tolerations.global).toEqual(global);
  });
});

const proxy = (replicas: number, telemetryProxy: object) => ({ controllerManager: { replicas, telemetryProxy } });
const claimed = { queue: { claimName: 'telemetry' } };
const issuerRef = { kind: 'ClusterIssuer', name: 'internal' };
const labelKeys = (...namespaceLabels: readonly string[]) => ({ telemetry: { namespaceLabels } });
const keys = (count: number) => Array.from({ length: count }, (_, index) => `key-${index}`);
const from = (repository: string) => ({ updater: { repository } });
const queueOf = (queueSize: string) => ({ logFileCollector: { queueSize } });
const selecting = (selector: unknown) => ({ monitoredNamespaces: [{ selector }] });
const requirement = (more: object) => selecting({ matchExpressions: [{ key: 'team', ...more }] });

describe('settings', () => {
  it.each([
    labelKeys('team', 'example.com/cost-center', 'A_b.c', `${'p'.repeat(253)}/${'n'.repeat(63)}`),
    labelKeys(...keys(32)),
    selecting({}),
    selecting({ matchLabels: { team: 'shop', 'example.com/tier': '' } }),
    requirement({ operator: 'NotIn', values: ['shop', ''] }),
    requirement({ operator: 'DoesNotExist' }),
    proxy(1, claimed),
    proxy(2, { image: { tag: '0.140.0', digest: '' } }),
    { ports: { webhook: 10_250 } },
    { certificates: { issuer: 'cert-manager', issuerRef } },
    ...['https://charts.example:8443/lumigo', 'oci://charts.example/lumigo@2', ''].map(from),
    ...['64M', '64Mi', '100Mi', '256Mi', '1.5G', '2Gi', '1Ti'].map(queueOf),
  ])('may be %j [F27]', (given) => expect(getProblems(given)).toEqual([]));

  // Each of these selectors would select every namespace, or none.
  it.each([
    { team: 'shop' },
    { matchlabels: { team: 'shop' } },
    { matchLabels: null },
    { matchLabels: { tier: 1 } },
    ...[
      { operator: 'in', values: ['shop'] },
      { operator: 'In' },
      { operator: 'In', values: [] },
      { operator: 'Exists', values: ['shop'] },
      { values: ['shop'] },
    ].map((wrong) => ({ matchExpressions: [{ key: 'team', ...wrong }] })),
  ])('must not have the selector %j, which is refused with its place', (selector) => {
    expect(getProblems(selecting(selector))).toEqual([expect.stringMatching(/^monitoredNamespaces\[0\]\.selector\./)]);
  });

  it.each<[string, unknown]>([
    ['a longer name than Services can have', { name: 'a'.repeat(29) }],
    ['a name that begins with a digit, as none of a Service does', { name: '1abc' }],
    ['an image with its tag in it', { injectorWebhook: { lumigoInjector: { image: { repository: 'a:b' } } } }],
    ['a digest of another form', { controllerManager: { manager: { image: { digest: 'sha256:12' } } } }],
    ['two dots in a row in a name', { monitoredNamespaces: [{ namespace: 'shop', secretName: 'a..b' }] }],
    ['a fraction', { rollout: { concurrent: 1.5 } }],
    ['a timeout that the API server refuses', { webhook: { timeoutSeconds: 31 } }],
    ['a list for all settings', []],
    ['a text for all settings', 'replicas=3'],
    ...['', '-a', 'a/b/c', 'Example.com/a', '/a', 'a/', '$a', 'a'.repeat(64), `${'p'.repeat(254)}/a`].map(
      (key): [string, unknown] => [`the key "${key}" of a label`, labelKeys(key)],
    ),
  ])('must not have %s', (_what, given) => {
    expect(getProblems(given)).toHaveLength(1);
  });

  const meant = (path: string, similar: string) => `${path} is not a setting; did you mean ${similar}?`;
  const repository =
    'updater.repository must be an https:// or oci:// URL without a slash at its end, and without a user or password, ' +
    'which logs would show (http:// lets an attacker replace the chart), but is';
  const hidden = 'a text (not shown, because it may hold a token)';

  it.each([
    [{ controlerManager: {} }, meant('controlerManager', 'controllerManager')],
    [{ replicas: 3 }, meant('replicas', 'controllerManager.replicas')],
    [{ debug: { Enabled: true } }, meant('debug.Enabled', 'debug.enabled')],
    [{ webhook: { timeout: 3 } }, meant('webhook.timeout', 'webhook.timeoutSeconds')],
    [{ xdebug: {} }, meant('xdebug', 'debug')],
    [{ rolluot: {} }, meant('rolluot', 'rollout')],
    [{ webhook: { port: 3 } }, meant('webhook.port', 'ports')],
    [
      { monitoredNamespaces: [{ namespace: 'shop', secretname: 'x' }] },
      meant('monitoredNamespaces[0].secretname', 'monitoredNamespaces[].secretName'),
    ],
    [{ constructor: true }, 'constructor is not a setting; docs/reference/settings.md lists those that there are'],
    // The setting of a list is not suggested for a key at the top [F83].
    [{ loggin: true }, 'loggin is not a setting; docs/reference/settings.md lists those that there are'],
    [labelKeys(...keys(33)), expect.stringContaining('telemetry.namespaceLabels must have at most 32 keys')],
    [{ monitoredNamespaces: [{}] }, 'monitoredNamespaces[0] must have either a namespace or a selector'],
    [{ monitoredNamespaces: [{ namespace: 'shop', selector: {} }] }, sentences.monitoredByWhat(0)],
    [proxy(2, claimed), sentences.sharedQueue(2)],
    [proxy(2, { image: { tag: '0.140.0' } }), sentences.otherTag('0.140.0')],
    [{ ports: { webhook: 8081 } }, 'ports.health and ports.webhook are both 8081. Use different ports'],
    [{ ports: { webhook: 10_250 }, hostNetwork: true }, sentences.kubeletPort('webhook', 10_250)],
    [
      { ports: { webhook: 443 } },
      'ports.webhook must be a whole number from 1024 to 65535, without quotes, but is 443',
    ],
    [{ certificates: { issuerRef } }, sentences.idleIssuer()],
    [{ injection: { sidecars: [undefined] } }, 'injection.sidecars[0] must be a text, but is missing'],
    // Without TLS, an attacker could replace the chart [F27].
    ...['http://charts.example', 'http://127.0.0.1:8080', 'HTTPS://charts.example', 'oci:charts.example'].map(
      (url): [object, string] => [from(url), `${repository} "${url}"`],
    ),
    ...['https://user:hunter2@charts.example', 'oci://hunter2@charts.example/lumigo'].map((url): [object, string] => [
      from(url),
      `${repository} ${hidden}`,
    ]),
    // A large request would not fit into the queue.
    ...['256', '200Ki', '1Mi', '63.9Mi', '9.5M'].map((size): [object, string] => [
      queueOf(size),
      `logFileCollector.queueSize must be at least 64M, such as 256Mi, but is "${size}"`,
    ]),
  ])('must not be %j: %s', (given, problem) => {
    expect(getProblems(given)).toEqual([problem]);
  });

  it('report all problems at once, each with its place, the wrong value and the right one', () => {
    expect(
      getProblems({
        name: 'Lumigo',
        platform: 'eks',
        endpoint: { otlp: { url: 'ga-otlp.golumigo.com/' } },
        controllerManager: { replicas: '2' },
        debug: true,
        nodeSelector: { global: { gpu: false } },
        podLabels: { 'lumigo.auto-trace': 'true' },
        metrics: { serviceMonitor: { labels: { 'app.kubernetes.io/name': 'x', release: 'prometheus' } } },
      }),
    ).toEqual([
      'name must consist of lower-case letters, digits and -, begin with a letter and not end with -, but is "Lumigo"',
      'platform must be one of auto, kubernetes, openshift, but is "eks"',
      'endpoint.otlp.url must be an http:// or https:// URL without a slash at its end, but is "ga-otlp.golumigo.com/"',
      'controllerManager.replicas must be a whole number from 1 to 20, without quotes, but is "2"',
      'debug must be a map of enabled, but is true',
      'nodeSelector.global.gpu must be a text (in YAML: put it in quotes), but is false',
      sentences.ownLabels('podLabels', 'lumigo.auto-trace'),
      sentences.ownLabels('metrics.serviceMonitor.labels', 'app.kubernetes.io/name'),
    ]);
  });

  it('report all contradictions at once', () => {
    const monitoredNamespaces = ['shop', 'shop', 'kube-system', 'default'].map((namespace) => ({ namespace }));
    expect(getProblems({ namespace: 'default', monitoredNamespaces })).toEqual([
      sentences.monitoredTwice(1, 'shop'),
      sentences.monitoredButExcluded(2, 'kube-system'),
      sentences.monitoredOwn(3, 'default'),
      'namespace is "default", which other programs use too. Set createNamespace to false, or choose another namespace',
    ]);
    const own = [{ namespace: 'lumigo-system' }];
    expect(getProblems({ namespace: null, monitoredNamespaces: own })).toEqual([
      sentences.monitoredOwn(0, 'lumigo-system'),
    ]);
  });

  it.each([
    [{ lumigoToken: { value: 'a password' } }, /^lumigoToken\.value .*, but is a text \(not shown/],
    [{ lumigoToken: ['a password'] }, /^lumigoToken .*, but is a list \(not shown/],
    [{ [`t_${'a'.repeat(21)}`]: 'a password' }, /^a section has a key that is not a setting; it is not shown/],
    [{ lumigoToken: { apassword: 'x' } }, /^lumigoToken has a key that is not a setting; it is not shown/],
  ])('show nothing of the token %j', (given, problem) => {
    expect(getProblems(given)).toEqual([expect.stringMatching(problem)]);
    expect(getProblems(given).join()).not.toMatch(/a ?password/);
  });

  it.each(Object.entries(withdrawnSettings))('say what to use instead of %s, which was withdrawn', (path, advice) => {
    const given = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), { configMap: 'mine' });
    expect(getProblems(given)).toEqual([`${path} is not a setting; ${advice}`]);
  });
});

describe('a settings file', () => {
  const folder = createTemporaryFolder();

  function file(name: string, content: string): string {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  }

  it('may be YAML or JSON, or be left out', () => {
    expect(loadSettings(file('a.yaml', 'debug:\n  enabled: true\n')).debug.enabled).toBe(true);
    expect(loadSettings(file('a.json', '{"debug": {"enabled": true}}')).debug.enabled).toBe(true);
    expect(loadSettings(undefined)).toEqual(parseSettings({}));
  });

  it('may have a value of the original without effect, and a line warns of it', () => {
    const lines: string[] = [];
    loadSettings(file('original.yaml', 'output: { color: true }\n'), (line) => lines.push(line));
    expect(lines).toEqual([expect.stringContaining('has no effect: output: ')]);
  });

  it.each([
    ['is malformed', 'debug:\n  enabled: [true\n', /it cannot be read as YAML or JSON: .* line \d/],
    ['sets a key twice', 'name: a\nname: b\n', /duplicate key in line 2, column 1/],
  ])('is named with the line if it %s', (_what, content, problem) => {
    const path = file('wrong.yaml', content);
    expect(() => loadSettings(path)).toThrow(/wrong\.yaml cannot be used:\n {2}- /);
    expect(() => loadSettings(path)).toThrow(problem);
  });

  it('is named if it is missing, with the variable that names it', () => {
    expect(() => loadSettings(join(folder, 'none.yaml'))).toThrow(
      /none\.yaml cannot be used:\n {2}- the file does not exist\. LUMIGO_SETTINGS/,
    );
  });
});
