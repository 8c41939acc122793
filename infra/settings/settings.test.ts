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
      injection: { updateOnUpgrade: false },
      rollout: {
        strategy: 'progressive',
        soakSeconds: 10,
        deadlineSeconds: 300,
        largestBatch: 50,
        concurrent: 16,
        concurrentPerNamespace: 16,
        settleSeconds: 0,
      },
      removal: { deadlineSeconds: 120 },
      webhook: { timeoutSeconds: 5, excludedNamespaces: ['kube-system', 'kube-node-lease', 'kube-public'] },
      debug: { enabled: false },
    });
  });

  it('apply if the file is empty', () => {
    expect(parseSettings(null)).toEqual(parseSettings({}));
  });

  it.each([
    ['name', 'text'],
    ['debug.enabled', 'boolean'],
    ['controllerManager.replicas', 'integer'],
    ['injection.imagePullSecrets', 'strings'],
    ['tolerations.global', 'objects'],
    ['affinity', 'map'],
  ])('have types: %s is %s', (path, type) => {
    expect(settingEntries().find((entry) => entry.path === path)?.type).toBe(type);
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

describe('the keys of labels of namespaces', () => {
  const of = (namespaceLabels: readonly string[]) => getProblems({ telemetry: { namespaceLabels } });

  it('are those that Kubernetes accepts', () => {
    expect(of(['team', 'example.com/cost-center', 'A_b.c', `${'p'.repeat(253)}/${'n'.repeat(63)}`])).toEqual([]);
    for (const key of ['', '-a', 'a/b/c', 'Example.com/a', '/a', 'a/', '$a', 'a'.repeat(64), `${'p'.repeat(254)}/a`])
      expect(of([key])).toHaveLength(1);
  });

  it('are at most 32', () => {
    const keys = (count: number) => Array.from({ length: count }, (_, index) => `key-${index}`);
    expect(of(keys(32))).toEqual([]);
    expect(of(keys(33)).join()).toContain('telemetry.namespaceLabels must have at most 32 keys');
  });
});

describe('problems', () => {
  it('are reported all at once, each with its place, the wrong value and the right one', () => {
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

  it.each([
    [{ controlerManager: {} }, 'controlerManager is not a setting; did you mean controllerManager?'],
    [{ replicas: 3 }, 'replicas is not a setting; did you mean controllerManager.replicas?'],
    [{ debug: { Enabled: true } }, 'debug.Enabled is not a setting; did you mean debug.enabled?'],
    [{ webhook: { timeout: 3 } }, 'webhook.timeout is not a setting; did you mean webhook.timeoutSeconds?'],
    [{ xdebug: {} }, 'xdebug is not a setting; did you mean debug?'],
    [{ rolluot: {} }, 'rolluot is not a setting; did you mean rollout?'],
    [{ webhook: { port: 3 } }, 'webhook.port is not a setting; did you mean ports?'],
    [
      { monitoredNamespaces: [{ namespace: 'shop', secretname: 'x' }] },
      'monitoredNamespaces[0].secretname is not a setting; did you mean monitoredNamespaces[].secretName?',
    ],
  ])('suggest a similar setting for %j', (given, problem) => {
    expect(getProblems(given)).toEqual([problem]);
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

  it('suggests no setting of a list for a key at the top [F83]', () => {
    expect(getProblems({ loggin: true })).toEqual([
      'loggin is not a setting; docs/reference/settings.md lists those that there are',
    ]);
  });

  it.each(Object.entries(withdrawnSettings))('say what to use instead of %s, which was withdrawn', (path, advice) => {
    const given = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), { configMap: 'mine' });
    expect(getProblems(given)).toEqual([`${path} is not a setting; ${advice}`]);
  });

  it.each([
    ['a longer name than Services can have', { name: 'a'.repeat(29) }],
    ['a name that begins with a digit, as none of a Service does', { name: '1abc' }],
    [
      'an image with its tag in the repository',
      { injectorWebhook: { lumigoInjector: { image: { repository: 'a:b' } } } },
    ],
    ['a digest of another form', { controllerManager: { manager: { image: { digest: 'sha256:12' } } } }],
    ['a fraction', { rollout: { concurrent: 1.5 } }],
    ['a timeout that the API server refuses', { webhook: { timeoutSeconds: 31 } }],
    ['a list for all settings', []],
    ['a text for all settings', 'replicas=3'],
  ])('include %s', (_case, given) => {
    expect(getProblems(given)).toHaveLength(1);
  });

  it('include contradictions', () => {
    const monitoredNamespaces = ['shop', 'shop', 'kube-system', 'default'].map((namespace) => ({ namespace }));
    expect(getProblems({ namespace: 'default', monitoredNamespaces })).toEqual([
      sentences.monitoredTwice(1, 'shop'),
      sentences.monitoredButExcluded(2, 'kube-system'),
      sentences.monitoredOwn(3, 'default'),
      'namespace is "default", which other programs use too. Set createNamespace to false, or choose another namespace',
    ]);
  });
});

describe('a selector of namespaces to trace', () => {
  const of = (selector: unknown) => getProblems({ monitoredNamespaces: [{ selector }] });
  const requirement = (more: object) => ({ matchExpressions: [{ key: 'team', ...more }] });

  it.each([
    {},
    { matchLabels: { team: 'shop', 'example.com/tier': '' } },
    requirement({ operator: 'NotIn', values: ['shop', ''] }),
    requirement({ operator: 'DoesNotExist' }),
  ])('may be %j', (selector) => expect(of(selector)).toEqual([]));

  // Each of these would select every namespace, or none.
  it.each([
    { team: 'shop' },
    { matchlabels: { team: 'shop' } },
    { matchLabels: null },
    { matchLabels: { tier: 1 } },
    requirement({ operator: 'in', values: ['shop'] }),
    requirement({ operator: 'In' }),
    requirement({ operator: 'In', values: [] }),
    requirement({ operator: 'Exists', values: ['shop'] }),
    requirement({ values: ['shop'] }),
  ])('is refused with its place: %j', (selector) => {
    expect(of(selector)).toEqual([expect.stringMatching(/^monitoredNamespaces\[0\]\.selector\./)]);
  });
});

describe('the settings of the telemetry proxy', () => {
  const proxy = (replicas: number, telemetryProxy: object) => ({ controllerManager: { replicas, telemetryProxy } });

  it('cannot share one claimed queue between two pods', () => {
    expect(getProblems(proxy(2, { queue: { claimName: 'telemetry' } }))).toEqual([sentences.sharedQueue(2)]);
    expect(getProblems(proxy(1, { queue: { claimName: 'telemetry' } }))).toEqual([]);
  });

  it('cannot have another tag while the digest still pins the first', () => {
    expect(getProblems(proxy(2, { image: { tag: '0.140.0' } }))).toEqual([sentences.otherTag('0.140.0')]);
    expect(getProblems(proxy(2, { image: { tag: '0.140.0', digest: '' } }))).toEqual([]);
  });
});

describe('the settings for restricted clusters', () => {
  it('refuse a port that is taken', () => {
    expect(getProblems({ ports: { webhook: 8081 } })).toEqual([
      'ports.health and ports.webhook are both 8081. Use different ports',
    ]);
    expect(getProblems({ ports: { webhook: 10_250 } })).toEqual([]);
    expect(getProblems({ ports: { webhook: 10_250 }, hostNetwork: true })).toEqual([
      sentences.kubeletPort('webhook', 10_250),
    ]);
    expect(getProblems({ ports: { webhook: 443 } })).toEqual([
      'ports.webhook must be a whole number from 1024 to 65535, without quotes, but is 443',
    ]);
  });

  it('have a reference to an issuer only if cert-manager issues', () => {
    const issuerRef = { kind: 'ClusterIssuer', name: 'internal' };
    expect(getProblems({ certificates: { issuerRef } })).toEqual([sentences.idleIssuer()]);
    expect(getProblems({ certificates: { issuer: 'cert-manager', issuerRef } })).toEqual([]);
  });
});

describe('the settings of the updater', () => {
  const of = (repository: string) => getProblems({ updater: { repository } });
  const form =
    'updater.repository must be an https:// or oci:// URL without a slash at its end, and without a user or password, ' +
    'which logs would show (http:// lets an attacker replace the chart)';

  it.each(['http://charts.example', 'http://127.0.0.1:8080', 'HTTPS://charts.example', 'oci:charts.example'])(
    'refuse a chart repository without TLS: %s [F27]',
    (repository) => {
      expect(of(repository)).toEqual([`${form}, but is "${repository}"`]);
    },
  );

  it.each(['https://user:hunter2@charts.example', 'oci://hunter2@charts.example/lumigo'])(
    'refuse a chart repository with a user or password, and do not show it: %s',
    (repository) => {
      expect(of(repository)).toEqual([`${form}, but is a text (not shown, because it may hold a token)`]);
    },
  );

  it.each(['https://charts.example:8443/lumigo', 'oci://charts.example/lumigo@2', ''])(
    'accept one with TLS: %s [F27]',
    (each) => {
      expect(of(each)).toEqual([]);
    },
  );
});

describe('the queues of the telemetry proxy', () => {
  it('have room for sixteen full ones by default, at two bytes on disk for each', () => {
    const { shardSize, sizeLimit } = parseSettings({}).controllerManager.telemetryProxy.queue;
    expect(16 * 2 * (parseQuantity(shardSize) ?? NaN)).toBeLessThanOrEqual(parseQuantity(sizeLimit) ?? NaN);
  });
});

describe('the queue of a node', () => {
  const of = (queueSize: string) => getProblems({ logFileCollector: { queueSize } });

  it.each(['256', '200Ki', '1Mi', '63.9Mi', '9.5M'])('is refused if a large request would not fit in: %s', (size) => {
    expect(of(size)).toEqual([`logFileCollector.queueSize must be at least 64M, such as 256Mi, but is "${size}"`]);
  });

  it.each(['64M', '64Mi', '100Mi', '256Mi', '1.5G', '2Gi', '1Ti'])('may be %s', (size) => {
    expect(of(size)).toEqual([]);
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

  it('is named if it is missing, with the variable that names it', () => {
    expect(() => loadSettings(join(folder, 'none.yaml'))).toThrow(
      /none\.yaml cannot be used:\n {2}- the file does not exist\. LUMIGO_SETTINGS/,
    );
  });

  it('is named if it is malformed, with the line', () => {
    expect(() => loadSettings(file('b.yaml', 'debug:\n  enabled: [true\n'))).toThrow(
      /b\.yaml cannot be used:\n {2}- it cannot be read as YAML or JSON: .* line \d/,
    );
  });

  it('is refused if it sets a key twice', () => {
    expect(() => loadSettings(file('c.yaml', 'name: a\nname: b\n'))).toThrow(/duplicate key in line 2, column 1/);
  });
});
