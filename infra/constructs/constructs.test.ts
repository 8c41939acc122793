import { describe, expect, it } from '@jest/globals';
import { createProgram } from '../../runtime/cli/program.ts';
import { processShell } from '../../runtime/cli/shell.ts';
import { annotations, labels, suffixes } from '../../runtime/contract.ts';
import type { Container } from '../../runtime/api/objects.ts';
import { toConfig } from '../../sandbox/manager/configuration.ts';
import { synthesize, withEverything } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';

type Tree = Readonly<Record<string, unknown>>;

function find(manifests: readonly Manifest[], kind: string): Tree {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
}

const withSettings = (given: unknown) => synthesize(parseSettings(given));
const defaults = withSettings({});

interface Pod {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> };
  readonly spec: Tree & {
    readonly containers: readonly [Tree & Pick<Container, 'env'>, Tree];
    readonly securityContext: Tree;
    readonly volumes?: readonly { readonly name: string; readonly emptyDir?: object }[];
  };
}

const getPod = (manifests: readonly Manifest[]): Pod =>
  (find(manifests, 'Deployment').spec as { template: Pod }).template;

/** Returns the values at these keys, wherever they are. */
function findIn(node: unknown, ...wanted: readonly string[]): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    wanted.includes(key) ? [value as unknown] : findIn(value, ...wanted),
  );
}

const podsIn = (node: unknown) => findIn(node, 'template') as Pod[];
const containersIn = (node: unknown) => findIn(node, 'containers', 'initContainers').flat() as Tree[];

const manager = {
  image: getPod(defaults).spec.containers[0].image,
  priorityClassName: 'lumigo-lumigo-operator-priority',
};
const pinned = expect.stringMatching(
  /^docker\.io\/otel\/opentelemetry-collector-contrib:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/,
);
const never = { labels: { [labels.autoTrace]: 'false' } };
const inPod = (spec: object) => ({ spec: { template: { spec } } });
const inProxy = (container: object) => inPod({ containers: [{}, container] });
const harmless = {
  failurePolicy: 'Ignore',
  sideEffects: 'None',
  timeoutSeconds: 5,
  admissionReviewVersions: ['v1'],
  matchPolicy: 'Equivalent',
};

const promises: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  Deployment: {
    'is never instrumented': { metadata: never, spec: { template: { metadata: never } } },
    'is replaced without a gap': {
      spec: { replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } },
    },
    'spreads the pods of one version over nodes and zones, also during an update': inPod({
      topologySpreadConstraints: Array(2).fill({ matchLabelKeys: ['pod-template-hash'] }),
    }),
    'has no variables of Services, which look like settings of the operator': inPod({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
    }),
    'lets the manager signal the telemetry proxy: one user, and shared processes': inPod({
      shareProcessNamespace: true,
      securityContext: { runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532, runAsNonRoot: true },
    }),
    'starts the telemetry proxy with a configuration that an init container wrote': inPod({
      initContainers: [{ args: ['prepare-telemetry-proxy'], image: manager.image }],
      volumes: expect.arrayContaining([
        { name: 'telemetry-proxy-configuration', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
      ]),
    }),
    'limits the telemetry proxy, with a garbage collector that keeps to the limit [D38]': inProxy({
      resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } },
      env: [
        {
          name: 'MEMORY_LIMIT_MIB',
          valueFrom: {
            resourceFieldRef: { containerName: 'telemetry-proxy', resource: 'limits.memory', divisor: '1Mi' },
          },
        },
        { name: 'GOMEMLIMIT', value: '$(MEMORY_LIMIT_MIB)000000' },
      ],
      securityContext: { readOnlyRootFilesystem: true },
    }),
    'drains the telemetry proxy by nothing that another pod could call [F25]': inProxy({
      lifecycle: { preStop: { sleep: { seconds: 4 } } },
    }),
  },
  PodDisruptionBudget: {
    'never blocks the drain of a node while pods are not ready': {
      spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    },
  },
  PriorityClass: {
    'waits for room on a node and evicts no pod of a user for it': {
      metadata: { name: manager.priorityClassName },
      preemptionPolicy: 'Never',
    },
  },
  MutatingWebhookConfiguration: { 'never blocks a write': { webhooks: [harmless, harmless] } },
};

describe.each(Object.entries(promises))('by default the %s', (kind, rows) => {
  it.each(Object.entries(rows))('%s', (_promise, expected) => {
    expect(find(defaults, kind)).toMatchObject(expected);
  });
});

it('webhook configurations tell AKS not to write their namespace selector', () => {
  const all = [...defaults, ...synthesize(withEverything(parseSettings({})), 'Helm')];
  const selecting = all.filter(
    (each) => each.kind.endsWith('WebhookConfiguration') && findIn(each, 'namespaceSelector').length > 0,
  );
  expect(selecting).toHaveLength(2);
  for (const { metadata } of selecting)
    expect(metadata.annotations).toMatchObject({ 'admissions.enforcer/disabled': 'true' });
});

describe('the pods of the operator', () => {
  const resources = { limits: { memory: 1073741824, 'example.com/gpu': '1' } };
  const digest = `sha256:${'0'.repeat(64)}`;
  const image = { repository: 'registry.example.com:5000/lumigo', tag: 'next', digest };

  it.each<[what: string, given: object, expected: object]>([
    ['priority', { priorityClassName: 'high' }, { priorityClassName: 'high' }],
    [
      'resources, in any spelling',
      { controllerManager: { manager: { resources }, telemetryProxy: { resources } } },
      { containers: [{ resources }, { resources }] },
    ],
    [
      'image',
      { controllerManager: { manager: { image } } },
      { containers: [{ image: `registry.example.com:5000/lumigo:next@${digest}` }, { image: pinned }] },
    ],
  ])('have the %s of the settings', (_what, given, expected) => {
    expect(getPod(withSettings(given)).spec).toMatchObject(expected);
  });

  it('run on Linux nodes of both architectures', () => {
    expect(JSON.stringify(getPod(defaults).spec.affinity)).toContain('["amd64","arm64"]');
  });

  it('need no PriorityClass if the settings name one', () => {
    expect(withSettings({ priorityClassName: 'high' }).map(({ kind }) => kind)).not.toContain('PriorityClass');
  });

  it('have no pinned user on OpenShift', () => {
    expect(getPod(withSettings({ platform: 'openshift' })).spec.securityContext).not.toHaveProperty('runAsUser');
  });

  it('have what the settings add, unchanged', () => {
    const affinity = { podAntiAffinity: { aFieldOfTheFuture: true } };
    const imagePullSecrets = [{ name: 'registry' }];
    const nodeSelector = { pool: 'system' };
    const tolerations = [{ operator: 'Exists' }];
    const placed = { affinity, nodeSelector: { global: nodeSelector }, tolerations: { global: tolerations } };
    const added = { imagePullSecrets, podLabels: { team: 'a' }, podAnnotations: { note: 'b' } };
    const settings = parseSettings({ ...placed, ...added });
    const { updater } = settings;
    const pods = podsIn(synthesize({ ...withEverything(settings), updater }, 'Helm'));
    expect(pods).toHaveLength(6);
    for (const { metadata } of pods)
      expect(metadata).toMatchObject({ labels: { team: 'a', ...never.labels }, annotations: { note: 'b' } });
    const expected = { affinity, imagePullSecrets, nodeSelector, tolerations };
    expect(getPod(synthesize(settings)).spec).toMatchObject(expected);
    // Next to the operator, a hook of Helm with the same affinity could stay Pending.
    expect(pods.filter(({ spec }) => JSON.stringify(spec.affinity).includes('podAntiAffinity'))).toHaveLength(1);
  });

  it('run where the settings for them say, else where the settings for all pods say [F51]', () => {
    const nodeSelector = { global: { pool: 'any' }, controllerManager: { pool: 'system' } };
    const made = synthesize(parseSettings({ nodeSelector }), 'Helm');
    expect(findIn(find(made, 'Deployment'), 'nodeSelector')).toEqual([{ pool: 'system' }]);
    expect(findIn(find(made, 'Job'), 'nodeSelector')).toEqual([{ pool: 'any' }]);
  });

  it('run a command that the image has, with flags that it knows, in every delivery [F62]', () => {
    const program = createProgram(processShell());
    const deliveries = ['Manifests', 'Helm', 'Pulumi'] as const;
    const made = deliveries.flatMap((delivery) => synthesize(parseSettings({}), delivery));
    const own = containersIn(made).filter(({ image }) => String(image).includes('lumigo-kubernetes-operator'));
    // The manager and its init container count three times, the updater with Helm, and Helm's uninstall Job.
    expect(own.length).toBeGreaterThanOrEqual(8);
    for (const { command, args = [], env } of own) {
      expect(command).toBeUndefined();
      const [name, ...flags] = args as readonly string[];
      const known = program.commands.find((each) => each.name() === name);
      expect([name, known?.parseOptions(flags)]).toEqual([name, { operands: [], unknown: [] }]);
      expect(JSON.stringify(env)).not.toContain('NODE_OPTIONS');
    }
  });

  it("tell the uninstall Job that it is Helm's hook, and to end a minute before its pod is deleted", () => {
    const made = synthesize(parseSettings({}), 'Helm');
    const jobs = made.filter(({ metadata }) => metadata.name.endsWith(suffixes.uninstall));
    expect(jobs).toMatchObject([{ spec: { activeDeadlineSeconds: 300 } }]);
    // Other tools run it at once.
    expect(containersIn(jobs)).toMatchObject([{ args: ['uninstall', '--helm-hook', '--deadline', '240'] }]);
  });

  it("keep the queue on the node's disk, or on a claim, which only one pod at a time can have", () => {
    const queue = (manifests: readonly Manifest[]) =>
      getPod(manifests).spec.volumes?.find(({ name }) => name === 'telemetry-proxy-queue');
    expect(queue(defaults)).toMatchObject({ emptyDir: { sizeLimit: '4Gi' } });
    const claimed = withSettings({
      controllerManager: { replicas: 1, telemetryProxy: { queue: { claimName: 'telemetry' } } },
    });
    expect(queue(claimed)).toMatchObject({ persistentVolumeClaim: { claimName: 'telemetry' } });
    expect(find(claimed, 'Deployment').spec).toMatchObject({ strategy: { type: 'Recreate' } });
  });

  const claimedQueue = { replicas: 1, telemetryProxy: { queue: { claimName: 'telemetry' } } };
  it.each([
    ['by default', defaults, 3],
    ['in a release with every part', synthesize(withEverything(parseSettings({})), 'Helm'), 3],
    ['with a queue on a claim', withSettings({ controllerManager: claimedQueue }), 2],
  ])('name their local volumes to the cluster autoscaler %s', (_when, made, count) => {
    const pods = podsIn(made.filter(({ kind }) => kind === 'Deployment'));
    const local = ({ spec }: Pod) => (spec.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined);
    expect(pods.flatMap(local)).toHaveLength(count);
    for (const pod of pods)
      expect(pod.metadata.annotations[annotations.safeToEvict] ?? '').toBe(
        local(pod)
          .map(({ name }) => name)
          .join(','),
      );
  });

  it('name other volumes to the cluster autoscaler if the settings do', () => {
    const podAnnotations = { [annotations.safeToEvict]: 'none' };
    expect(getPod(withSettings({ podAnnotations })).metadata.annotations).toMatchObject(podAnnotations);
  });
});

describe('the configuration of the manager', () => {
  const entry = { selector: { matchLabels: { team: 'a' } }, loggingEnabled: false };

  it.each([
    [{}, { deploymentMethod: 'Manifests', monitoredNamespaces: [], metricsSecure: false, logLevel: 'info' }],
    [{ debug: { enabled: true } }, { logLevel: 'debug' }],
    [{ metrics: { secure: true } }, { metricsSecure: true }],
    // It also limits how long the API server waits [F12].
    [{ webhook: { timeoutSeconds: 2 } }, { webhookTimeoutSeconds: 2 }],
    [{ monitoredNamespaces: 'all' }, { monitoredNamespaces: [{ selector: {} }] }],
    [{ monitoredNamespaces: [{ namespace: 'shop' }, entry] }, { monitoredNamespaces: [{ namespace: 'shop' }, entry] }],
  ])('has for the settings %j the values %j [F54]', (given, expected) => {
    expect(toConfig(getPod(withSettings(given)).spec.containers[0])).toMatchObject(expected);
  });

  it('reports the delivery that installed the operator', () => {
    const [own] = getPod(synthesize(parseSettings({}), 'Pulumi')).spec.containers;
    expect(toConfig(own)).toMatchObject({ deploymentMethod: 'Pulumi' });
  });
});

it("the monitored namespaces get the token from one Secret in the operator's namespace, which plain YAML refuses [D45]", () => {
  const token = `t_${'0'.repeat(21)}`;
  const given = { lumigoToken: { value: token } };
  const made = synthesize(parseSettings(given), 'Helm');
  const [secret, ...others] = made.filter((manifest) => JSON.stringify(manifest).includes(token));
  expect(others).toEqual([]);
  const metadata = { namespace: 'lumigo-system', name: 'lumigo-credentials' };
  expect(secret).toMatchObject({ kind: 'Secret', metadata });
  expect(() => withSettings(given)).toThrow('lumigoToken.value is set, but plain YAML must not contain a token');
});

it('the manifests have no address that ignores the cluster domain [D44]', () => {
  const text = JSON.stringify(withSettings({ kubernetesClusterDomain: 'cluster.example' }));
  expect(text).toContain('.svc.cluster.example');
  expect(text).not.toContain('cluster.local');
});
