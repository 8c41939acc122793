import { describe, expect, it } from '@jest/globals';
import type {
  V1Container,
  V1DeploymentSpec,
  V1EnvVar,
  V1MutatingWebhook,
  V1PodSpec,
  V1ServiceSpec,
  V1Volume,
} from '@kubernetes/client-node';
import { fromEnvironment } from '../../runtime/config/config.ts';
import { mounts, paths, ports, suffixes, webhooks, workloads } from '../../runtime/contract.ts';
import { permissions } from '../../runtime/access/permissions.ts';
import { synthesize } from '../operator.ts';
import { checkRules } from './updater-rules.ts';
import type { Manifest } from './manifest.ts';
import { LOAD_MS, STOP_MS } from '../../runtime/telemetry-proxy/reloader.ts';
import { assumedConfig } from '../../runtime/installation/assumed.ts';
import { parseSettings } from '../settings/settings.ts';
import { operatorVersion } from '../settings/version.ts';

/** Kubernetes' own type, with every field that it can have. */
type Whole<T> = { readonly [Key in keyof T]-?: Whole<NonNullable<T[Key]>> };
type Container = Omit<Whole<V1Container>, 'env'> & { readonly env: readonly V1EnvVar[] };
type Labels = Readonly<Record<string, string>>;
interface DeploymentSpec extends Omit<Whole<V1DeploymentSpec>, 'template'> {
  readonly template: {
    readonly metadata: { readonly labels: Labels };
    readonly spec: Omit<Whole<V1PodSpec>, 'containers' | 'initContainers' | 'volumes'> & {
      readonly initContainers: readonly [Container];
      readonly containers: readonly [Container, Container];
      readonly volumes: readonly V1Volume[];
    };
  };
}
type ServiceSpec = Whole<V1ServiceSpec>;
type Webhook = Whole<V1MutatingWebhook>;

const settings = parseSettings({ monitoredNamespaces: [{ namespace: 'shop' }] });
const manifests = synthesize(settings);

const all = (kind: string, from = manifests) => from.filter((manifest) => manifest.kind === kind);

function one(kind: string, suffix = '', from = manifests): Manifest {
  const [only, ...more] = all(kind, from).filter(({ metadata }) => metadata.name.endsWith(suffix));
  if (only === undefined || more.length > 0) throw new Error(`not one ${kind} ends in ${suffix}`);
  return only;
}

const deployment = one('Deployment').spec as DeploymentSpec;
const { containers, volumes, ...pod } = deployment.template.spec;
const [manager, telemetryProxy] = containers;
const containerPorts = containers.flatMap((container) => container.ports);
const services = all('Service').map(({ metadata, spec }) => ({ name: metadata.name, spec: spec as ServiceSpec }));
const hooks = one('MutatingWebhookConfiguration').webhooks as readonly [Webhook, Webhook];

describe('the ports', () => {
  it('match the contract in each container', () => {
    // The first two are on loopback only. A Service targets `nodeData` by number.
    const { telemetryLoop: _loop, telemetryCounts: _counts, nodeData: _nodes, ...reached } = ports;
    const numbers = containerPorts.map(({ containerPort }) => containerPort);
    expect(numbers.toSorted()).toEqual(Object.values(reached).toSorted());
  });

  it('have names that are unique in the pod, since Services target them by name', () => {
    const names = containerPorts.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.length > 15)).toEqual([]);
  });

  it('connect each Service to its program', () => {
    const reached = services.flatMap(({ name, spec }) =>
      spec.ports.map(({ name: portName, port, targetPort }) => {
        const target = containerPorts.find((each) => each.name === targetPort);
        return [name.replace(settings.name, ''), portName, port, target?.containerPort];
      }),
    );
    expect(reached.toSorted()).toEqual([
      [suffixes.metricsService, 'metrics', ports.metrics, ports.metrics],
      [suffixes.metricsService, 'otlp-metrics', ports.telemetryMetrics, ports.telemetryMetrics],
      [suffixes.telemetryProxyService, 'otlp-grpc', ports.otlpGrpc, ports.otlpGrpc],
      [suffixes.telemetryProxyService, 'otlp-http', 80, ports.otlpHttp],
      [suffixes.webhookService, 'webhook', 443, ports.webhook],
    ]);
  });

  it('to scrape are one with `metrics.secure`, whose name says that it uses TLS [F25]', () => {
    const secure = synthesize(parseSettings({ metrics: { secure: true }, networkPolicy: { enabled: true } }));
    expect((one('Service', suffixes.metricsService, secure).spec as ServiceSpec).ports).toEqual([
      { name: 'https-metrics', port: ports.metrics, protocol: 'TCP', targetPort: 'metrics' },
    ]);
    for (const kind of ['Deployment', 'NetworkPolicy']) {
      const text = JSON.stringify(one(kind, '', secure).spec);
      expect(text).toMatch(new RegExp(`"(containerPort|port)":${ports.metrics},`));
      expect(text).not.toMatch(new RegExp(`"(containerPort|port)":${ports.telemetryMetrics},`));
    }
  });
});

it("the probes ask a port of their own container, the manager's its health port at the paths of the contract", () => {
  for (const { startupProbe, livenessProbe, readinessProbe, ports: own } of containers)
    for (const probe of [startupProbe, livenessProbe, readinessProbe])
      expect(own.map(({ name }) => name)).toContain(probe.httpGet.port);
  const live = { path: paths.live, port: 'health' };
  expect([manager.startupProbe.httpGet, manager.livenessProbe.httpGet]).toEqual([live, live]);
  expect(manager.readinessProbe.httpGet).toEqual({ path: paths.ready, port: 'health' });
});

it('the kubelet restarts no telemetry proxy while the manager waits for its reload', () => {
  const { failureThreshold, periodSeconds } = telemetryProxy.livenessProbe;
  // The first failure may follow at once.
  expect((failureThreshold - 1) * periodSeconds * 1_000).toBeGreaterThan(STOP_MS + LOAD_MS);
});

describe('the webhooks', () => {
  it('are the two of the contract, each at its path of the one Service', () => {
    const service = { name: settings.name + suffixes.webhookService, namespace: settings.namespace, port: 443 };
    expect(hooks.map(({ name, clientConfig }) => [name, clientConfig])).toEqual([
      [webhooks.injector, { service: { ...service, path: paths.inject } }],
      [webhooks.lumigoes, { service: { ...service, path: paths.lumigoes } }],
    ]);
  });

  it('send all kinds of workload, and nothing else, to the injector', () => {
    const sent = hooks[0].rules.flatMap(({ apiGroups, apiVersions, resources }) =>
      apiGroups.flatMap((group) =>
        apiVersions.flatMap((version) => resources.map((plural) => ({ group, version, plural }))),
      ),
    );
    expect(sent).toEqual(workloads.map(({ group, version, plural }) => ({ group, version, plural })));
    for (const { operations } of hooks[0].rules) expect(operations).toEqual(['CREATE', 'UPDATE']);
  });
});

describe('the configuration', () => {
  const environment = Object.fromEntries(manager.env.map(({ name, value }) => [name, value ?? 'the-pod']));

  it('has the account, the ports and the address of the manager', () => {
    expect(fromEnvironment(environment)).toMatchObject({
      serviceAccount: pod.serviceAccountName,
      webhookPort: ports.webhook,
      healthPort: ports.health,
      metricsPort: ports.metrics,
      certificatesDirectory: '',
      webhookHost: `${settings.name}${suffixes.webhookService}.${settings.namespace}.svc`,
    });
  });

  it('has the defaults that the operator assumes if it cannot read its settings [F86]', () => {
    expect(fromEnvironment(environment)).toMatchObject({ ...assumedConfig, version: operatorVersion() });
  });

  it("takes the pod's name from Kubernetes", () => {
    const [fromElsewhere, ...more] = manager.env.filter(({ value }) => value === undefined);
    expect(fromElsewhere).toEqual({ name: 'LUMIGO_POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } });
    expect(more).toEqual([]);
  });
});

describe('the references', () => {
  it('select pods by labels that they have', () => {
    const carried = deployment.template.metadata.labels;
    const budget = one('PodDisruptionBudget').spec as { selector: { matchLabels: Labels } };
    const selectors = [
      deployment.selector.matchLabels,
      budget.selector.matchLabels,
      ...services.map(({ spec }) => spec.selector),
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
    ];
    for (const selector of selectors) expect(carried).toMatchObject(selector);
  });

  it('never select by the version, which a Deployment could not change', () => {
    expect(Object.keys(deployment.selector.matchLabels)).not.toContain('app.kubernetes.io/version');
  });

  it('mount volumes at the paths of the contract', () => {
    expect(manager.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
      mounts.telemetryProxyConfiguration,
      mounts.telemetryProxyAccount,
      mounts.serviceAccount,
    ]);
    expect(telemetryProxy.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
      mounts.telemetryProxyConfiguration,
      mounts.serviceAccount,
      mounts.telemetryProxyQueue,
    ]);
  });

  it('name objects that are installed too', () => {
    expect(volumes.flatMap(({ configMap, secret }) => [configMap ?? [], secret ?? []].flat())).toEqual([]);
    expect(pod.priorityClassName).toBe(one('PriorityClass').metadata.name);
    expect(pod.serviceAccountName).toBe(one('ServiceAccount', suffixes.manager).metadata.name);
  });
});

describe("the pod's tokens", () => {
  it("let the manager and the init container read the manager's, not the telemetry proxy [F26]", () => {
    const projected = volumes.filter((volume) => volume.projected !== undefined).map(({ name }) => name);
    const finders = [...pod.initContainers, ...containers].filter(({ volumeMounts }) =>
      volumeMounts.some(({ name }) => projected.includes(name)),
    );
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(projected).toHaveLength(1);
    expect(finders).toEqual([...pod.initContainers, manager]);
  });

  it("keep the telemetry proxy's in memory, where the telemetry proxy can only read it [F26]", () => {
    const mounted = telemetryProxy.volumeMounts.find(({ mountPath }) => mountPath === mounts.serviceAccount);
    expect(mounted?.readOnly).toBe(true);
    expect(volumes.find(({ name }) => name === mounted?.name)?.emptyDir?.medium).toBe('Memory');
    const written = manager.volumeMounts.find(({ mountPath }) => mountPath === mounts.telemetryProxyAccount);
    expect(written).toEqual({ name: mounted?.name, mountPath: mounts.telemetryProxyAccount });
  });
});

describe('the permissions', () => {
  const optional = synthesize(
    parseSettings({
      monitoredNamespaces: [{ namespace: 'shop' }],
      metrics: { secure: true },
      telemetry: { namespaceLabels: ['team'] },
      injection: { podMode: true },
    }),
  );
  const byDefault = [
    ['ClusterRole', suffixes.managerRole, permissions.cluster, suffixes.manager],
    ['ClusterRole', suffixes.telemetryProxyRole, permissions.telemetryProxy, suffixes.telemetryProxy],
    ['Role', suffixes.leaderElectionRole, permissions.ownNamespace, suffixes.manager],
    ['Role', suffixes.updater, checkRules('NAME'), suffixes.updater],
  ] as const;
  const onRequest = [
    ['ClusterRole', suffixes.monitoringRole, permissions.monitoring, suffixes.manager],
    ['Role', suffixes.monitoringRole, permissions.monitoringMarks, suffixes.manager],
    ['ClusterRole', suffixes.metricsRole, permissions.metrics, suffixes.manager],
    ['ClusterRole', suffixes.namespaceLabelsRole, permissions.namespaceLabels, suffixes.telemetryProxy],
    ['ClusterRole', suffixes.podPolicy, permissions.podMode, suffixes.manager],
  ] as const;
  const { name, namespace } = settings;

  it.each([...byDefault, ...onRequest])(
    '%s %s is the one of the contract, for the account of its program [F26]',
    (kind, suffix, rules, account) => {
      const granted = JSON.stringify(rules.map(({ why: _why, ...rule }) => ({ ...rule, test: undefined })));
      const named = granted.replaceAll('NAME', name).replaceAll('{namespace}', namespace);
      expect(one(kind, suffix, optional).rules).toEqual(JSON.parse(named));
      const { subjects, roleRef } = one(`${kind}Binding`, suffix, optional);
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name: name + account, namespace }]);
      expect(roleRef).toEqual({ apiGroup: 'rbac.authorization.k8s.io', kind, name: name + suffix });
    },
  );

  const ofUsers = [suffixes.editorRole, suffixes.viewerRole].map((suffix) => ['ClusterRole', suffix] as const);
  it.each([
    ['by default', synthesize(parseSettings({})), byDefault],
    ['with settings that need more rights', optional, [...byDefault, ...onRequest]],
  ])('are in no other roles %s, and no role of users is bound [F25] [F54]', (_when, from, expected) => {
    const roles = [...all('ClusterRole', from), ...all('Role', from)];
    expect(roles.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual(
      [...expected, ...ofUsers].map(([kind, suffix]) => `${kind} ${name}${suffix}`).toSorted(),
    );
    const bindings = [...all('ClusterRoleBinding', from), ...all('RoleBinding', from)];
    expect(bindings.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual(
      expected.map(([kind, suffix]) => `${kind}Binding ${name}${suffix}`).toSorted(),
    );
  });
});

describe('the permissions in the namespace of the operator', () => {
  it('name each object, except those that are created', () => {
    const unnamed = permissions.ownNamespace.filter(({ resourceNames }) => resourceNames === undefined);
    expect(unnamed.filter(({ verbs }) => verbs.join() !== 'create')).toEqual([]);
  });
});

describe('the objects', () => {
  const clusterScoped = /^(Cluster|Custom|Mutating|Validating|Namespace$|PriorityClass$)/;

  it('have a namespace if their kind has one, and none if not', () => {
    for (const { kind, metadata } of manifests) {
      expect([kind, metadata.namespace]).toEqual([kind, clusterScoped.test(kind) ? undefined : settings.namespace]);
    }
  });

  it('have names that begin with the name of the installation, or names that others prescribe', () => {
    const given = ['Namespace', 'CustomResourceDefinition'];
    for (const { kind, metadata } of manifests)
      if (!given.includes(kind)) expect(metadata.name.startsWith(settings.name)).toBe(true);
  });

  it('are unique by kind and name', () => {
    const keys = manifests.map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('contain no null, which other tools read as a request to delete', () => {
    expect(JSON.stringify(manifests)).not.toContain('null');
  });
});
