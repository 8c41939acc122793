import { describe, expect, it } from '@jest/globals';
import { createProgram } from '../../runtime/cli/program.ts';
import { processShell } from '../../runtime/cli/shell.ts';
import { labels, suffixes } from '../../runtime/contract.ts';
import type { Container } from '../../runtime/api/objects.ts';
import { imageFlags } from '../../sandbox/manager/image-flags.ts';
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
    readonly priorityClassName: string;
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

describe('the pods of the operator', () => {
  it('are never instrumented', () => {
    expect((find(defaults, 'Deployment').metadata as Pod['metadata']).labels[labels.autoTrace]).toBe('false');
    expect(getPod(defaults).metadata.labels[labels.autoTrace]).toBe('false');
  });

  it('do without the variables of Services, which look like settings of the operator', () => {
    expect(getPod(defaults).spec).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false });
  });

  it('are replaced without a gap', () => {
    expect(find(defaults, 'Deployment').spec).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
  });

  it('never block the drain of a node while they are not ready', () => {
    const budget = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' };
    expect(find(defaults, 'PodDisruptionBudget').spec).toMatchObject(budget);
  });

  it('run on Linux nodes of both architectures', () => {
    expect(JSON.stringify(getPod(defaults).spec.affinity)).toContain('["amd64","arm64"]');
  });

  it('have the PriorityClass of the settings, or their own', () => {
    expect(getPod(defaults).spec.priorityClassName).toBe('lumigo-lumigo-operator-priority');
    const chosen = withSettings({ priorityClassName: 'high' });
    expect(getPod(chosen).spec.priorityClassName).toBe('high');
    expect(chosen.map(({ kind }) => kind)).not.toContain('PriorityClass');
  });

  it('wait for room on a node and evict no pod of a user for it', () => {
    expect(find(defaults, 'PriorityClass')['preemptionPolicy']).toBe('Never');
  });

  it('run images by tag, or by digest if there is one', () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const image = { repository: 'registry.example.com:5000/lumigo', tag: 'next', digest };
    const [manager, proxy] = getPod(withSettings({ controllerManager: { manager: { image } } })).spec.containers;
    expect(manager.image).toBe(`registry.example.com:5000/lumigo:next@${digest}`);
    expect(proxy.image).toMatch(
      /^docker\.io\/otel\/opentelemetry-collector-contrib:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/,
    );
  });

  it('have what the settings add, unchanged', () => {
    const given = {
      imagePullSecrets: [{ name: 'registry' }],
      affinity: { podAntiAffinity: { aFieldOfTheFuture: true } },
    };
    const nodeSelector = { pool: 'system' };
    const tolerations = [{ operator: 'Exists' }];
    const placed = { nodeSelector: { global: nodeSelector }, tolerations: { global: tolerations } };
    const settings = parseSettings({ ...given, ...placed, podLabels: { team: 'a' }, podAnnotations: { note: 'b' } });
    const { updater } = settings;
    const pods = podsIn(synthesize({ ...withEverything(settings), updater }, 'Helm'));
    expect(pods).toHaveLength(6);
    for (const { metadata } of pods)
      expect(metadata).toMatchObject({
        labels: { team: 'a', 'lumigo.auto-trace': 'false' },
        annotations: { note: 'b' },
      });
    expect(getPod(synthesize(settings)).spec).toMatchObject({ ...given, nodeSelector, tolerations });
  });

  it('run where the settings for them say, else where the settings for all pods say [F51]', () => {
    const nodeSelector = { global: { pool: 'any' }, controllerManager: { pool: 'system' } };
    const made = synthesize(parseSettings({ nodeSelector }), 'Helm');
    const getSelector = (manifest: (typeof made)[number] | undefined) =>
      (manifest?.['spec'] as { template: { spec: { nodeSelector: object } } }).template.spec.nodeSelector;
    expect(getSelector(made.find(({ kind }) => kind === 'Deployment'))).toEqual({ pool: 'system' });
    expect(getSelector(made.find(({ kind }) => kind === 'Job'))).toEqual({ pool: 'any' });
  });

  it('have the resources of the settings, quantities of any spelling included', () => {
    const resources = { limits: { memory: 1073741824, 'example.com/gpu': '1' } };
    const settings = { controllerManager: { manager: { resources }, telemetryProxy: { resources } } };
    for (const container of getPod(withSettings(settings)).spec.containers)
      expect(container.resources).toMatchObject(resources);
  });

  it('limit their heap to a part of the memory, and know how long the API server waits [F12]', () => {
    const [manager] = getPod(withSettings({ webhook: { timeoutSeconds: 2 } })).spec.containers;
    // The command line in the image has that part (runtime-environment.cluster.test.ts).
    expect(JSON.stringify(manager.env)).not.toContain('old-space');
    expect(toConfig(manager)).toMatchObject({ webhookTimeoutSeconds: 2 });
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

  it("tell the uninstall Job that it is Helm's hook, because other tools run it at once", () => {
    const jobs = synthesize(parseSettings({}), 'Helm').filter(({ metadata }) =>
      metadata.name.endsWith(suffixes.uninstall),
    );
    expect(containersIn(jobs)).toMatchObject([{ args: expect.arrayContaining(['uninstall', '--helm-hook']) }]);
  });

  it('log at debug level if the settings say so', () => {
    const [manager] = getPod(withSettings({ debug: { enabled: true } })).spec.containers;
    expect(toConfig(manager)).toMatchObject({ logLevel: 'debug' });
  });
});

describe('the telemetry proxy', () => {
  const { spec } = getPod(defaults);
  const proxy = spec.containers[1];

  it("runs as the manager's user and shares its processes, so that the manager can signal it", () => {
    expect(spec).toMatchObject({
      shareProcessNamespace: true,
      securityContext: { runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532, runAsNonRoot: true },
    });
    expect(getPod(withSettings({ platform: 'openshift' })).spec.securityContext).not.toHaveProperty('runAsUser');
  });

  it('starts with the configuration that an init container of the manager wrote', () => {
    const { initContainers, volumes } = spec as unknown as {
      initContainers: readonly Tree[];
      volumes: readonly Tree[];
    };
    expect(initContainers).toMatchObject([{ args: ['prepare-telemetry-proxy'], image: spec.containers[0].image }]);
    expect(volumes).toContainEqual({
      name: 'telemetry-proxy-configuration',
      emptyDir: { medium: 'Memory', sizeLimit: '16Mi' },
    });
  });

  it('has the resources of the settings, and a garbage collector that keeps to the limit [D38]', () => {
    expect(proxy.resources).toEqual({
      requests: { cpu: '50m', memory: '128Mi' },
      limits: { cpu: '1', memory: '512Mi' },
    });
    expect(proxy.env).toEqual([
      {
        name: 'MEMORY_LIMIT_MIB',
        valueFrom: {
          resourceFieldRef: { containerName: 'telemetry-proxy', resource: 'limits.memory', divisor: '1Mi' },
        },
      },
      { name: 'GOMEMLIMIT', value: '$(MEMORY_LIMIT_MIB)000000' },
    ]);
    expect(proxy.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  });

  it("keeps its queue on the node's disk, or on a claim, which only one pod at a time can have", () => {
    const queue = (manifests: readonly Manifest[]) =>
      (getPod(manifests).spec.volumes as readonly { name: string }[]).find(
        ({ name }) => name === 'telemetry-proxy-queue',
      );
    expect(queue(defaults)).toMatchObject({ emptyDir: { sizeLimit: '4Gi' } });
    const claimed = withSettings({
      controllerManager: { replicas: 1, telemetryProxy: { queue: { claimName: 'telemetry' } } },
    });
    expect(queue(claimed)).toMatchObject({ persistentVolumeClaim: { claimName: 'telemetry' } });
    expect(find(claimed, 'Deployment').spec).toMatchObject({ strategy: { type: 'Recreate' } });
  });

  it('continues for a moment when its pod stops, by nothing that another pod could call [F25]', () => {
    expect(proxy.lifecycle).toEqual({ preStop: { sleep: { seconds: 4 } } });
  });

  it('reports the delivery that installed it', () => {
    for (const delivery of ['Manifests', 'Pulumi'] as const) {
      const [manager] = getPod(synthesize(parseSettings({}), delivery)).spec.containers;
      expect(toConfig(manager)).toMatchObject({ deploymentMethod: delivery });
    }
  });
});

describe('the webhooks', () => {
  const { webhooks } = find(defaults, 'MutatingWebhookConfiguration') as { webhooks: readonly [Tree, Tree] };

  it('never block a write', () => {
    for (const webhook of webhooks)
      expect(webhook).toMatchObject({
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        timeoutSeconds: 5,
        admissionReviewVersions: ['v1'],
        matchPolicy: 'Equivalent',
      });
  });

  it('leave the authority of the certificate to its issuer', () => {
    expect(JSON.stringify(webhooks)).not.toContain('caBundle');
  });

  it('skip those of Kubernetes, of the settings, and for workloads that of the operator', () => {
    const configuration = find(
      withSettings({ namespace: 'observability', webhook: { excludedNamespaces: ['kube-system', 'ci'] } }),
      'MutatingWebhookConfiguration',
    ) as { webhooks: readonly [Tree, Tree] };
    const [injector, lumigoes] = configuration.webhooks;
    const key = 'kubernetes.io/metadata.name';
    expect(injector.namespaceSelector).toEqual({
      matchExpressions: [
        { key, operator: 'NotIn', values: ['kube-system', 'kube-node-lease', 'kube-public', 'ci'] },
        { key, operator: 'NotIn', values: ['observability'] },
      ],
    });
    expect(lumigoes).not.toHaveProperty('namespaceSelector');
  });
});

describe('the labels of namespaces', () => {
  const getRoles = (given: object) =>
    withSettings(given).filter(({ metadata }) => metadata.name.endsWith(suffixes.namespaceLabelsRole));

  it('give the telemetry proxy the right to list namespaces, which it does not have otherwise', () => {
    expect(getRoles({ telemetry: { namespaceLabels: ['team'] } })).toMatchObject([
      { kind: 'ClusterRole', rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] }] },
      { kind: 'ClusterRoleBinding', subjects: [{ name: `lumigo-lumigo-operator${suffixes.telemetryProxy}` }] },
    ]);
    expect(getRoles({})).toEqual([]);
  });
});

describe('the monitored namespaces', () => {
  const told = (given: object) => toConfig(getPod(withSettings(given)).spec.containers[0]).monitoredNamespaces;
  const token = `t_${'0'.repeat(21)}`;
  const roles = (given: object) =>
    withSettings(given)
      .filter(({ kind }) => kind === 'ClusterRole')
      .map(({ metadata }) => metadata.name);

  it('reach the manager as the settings name them [F54]', () => {
    const entry = { selector: { matchLabels: { team: 'a' } }, loggingEnabled: false };
    expect(told({ monitoredNamespaces: [{ namespace: 'shop' }, entry] })).toEqual([{ namespace: 'shop' }, entry]);
    expect(told({ monitoredNamespaces: 'all' })).toEqual([{ selector: {} }]);
    expect(told({})).toEqual([]);
  });

  it('give the manager rights that it does not have otherwise [F54]', () => {
    const role = 'lumigo-lumigo-operator-monitored-namespaces-role';
    expect(roles({ monitoredNamespaces: [{ namespace: 'shop' }] })).toContain(role);
    expect(roles({})).not.toContain(role);
  });

  it.each([{}, { namespace: 'shop', selector: {} }])('have either a name or a selector: %j [F54]', (entry) => {
    expect(() => withSettings({ monitoredNamespaces: [entry] })).toThrow(
      'monitoredNamespaces[0] must have either a namespace or a selector',
    );
  });

  it("get the token from one Secret in the operator's namespace, which plain YAML refuses [D45]", () => {
    const given = { lumigoToken: { value: token } };
    const made = synthesize(parseSettings(given), 'Helm');
    const [secret, ...others] = made.filter((manifest) => JSON.stringify(manifest).includes(token));
    expect(others).toEqual([]);
    const metadata = { namespace: 'lumigo-system', name: 'lumigo-credentials' };
    expect(secret).toMatchObject({ kind: 'Secret', metadata });
    expect(() => withSettings(given)).toThrow('lumigoToken.value is set, but plain YAML must not contain a token');
  });
});

describe('the addresses', () => {
  it('contain no address that ignores the cluster domain, and pin what runs [D44]', () => {
    const text = JSON.stringify(withSettings({ kubernetesClusterDomain: 'cluster.example' }));
    expect(text).toContain('.svc.cluster.example');
    expect(text).not.toContain('cluster.local');
    expect(text).not.toContain('gcr.io/kubebuilder');
  });
});

it("the image limits the heap to a part of the container's memory, because a fixed limit would ignore its setting", () => {
  expect(imageFlags()).toContain('--max-old-space-size-percentage=60');
});
