import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Container, PodTemplate, Workload } from '../../runtime/api/objects.ts';
import { toInjector } from '../../runtime/config/config.ts';
import {
  annotations,
  environment,
  guardAnswer,
  injector,
  labels,
  lumigo,
  suffixes,
  workloadKinds,
  workloads,
  type WorkloadKind,
} from '../../runtime/contract.ts';
import { decide } from '../../runtime/injection/decide.ts';
import { inject } from '../../runtime/injection/inject.ts';
import { join } from '../../runtime/injection/joined-list.ts';
import { remove, uninstrument } from '../../runtime/injection/remove.ts';
import type { InjectorSettings } from '../../runtime/injection/types.ts';
import { toTemplate, withTemplate } from '../../runtime/injection/workload.ts';
import { install } from '../../sandbox/manager/install.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { apply } from '../../sandbox/manager/apply.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { fuzz } from '../../sandbox/testing/fuzz.ts';
import { foreignChanges, type ForeignChange } from '../../sandbox/testing/guard/foreign-changes.ts';
import { refusal, startGuarded, write, type GuardedCluster } from '../../sandbox/testing/guard/guarded-cluster.ts';
import { steps, type Step } from '../../sandbox/testing/guard/operator-steps.ts';
import { activePolicy, tracing } from '../../sandbox/testing/injection.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { runtimeConfig } from '../constructs/runtime-environment.ts';

const { deployment, cronJob } = workloadKinds;
const SETTING = 'OTEL_SERVICE_NAME';
const users = { name: 'users', mountPath: '/opt/lumigo' };
const pod = {
  containers: [
    {
      name: 'app',
      image: 'app:1',
      env: [
        { name: 'LD_PRELOAD', value: '/a.so' },
        { name: 'LUMIGO_ENDPOINT', value: 'http://own' },
        { name: 'LUMIGO_ENABLE_LOGS', valueFrom: { configMapKeyRef: { name: 'own', key: 'logs' } } },
      ],
      volumeMounts: [users],
    },
  ],
  volumes: [
    { name: 'users', emptyDir: {} },
    { name: 'other', emptyDir: {} },
  ],
};

let guarded: GuardedCluster;
let count = 0;
beforeAll(async () => {
  guarded = await startGuarded();
});
afterAll(() => guarded?.stop());

async function store({ apiVersion, kind }: WorkloadKind, manifest: object): Promise<Workload> {
  return { ...(await guarded.testCluster.create(manifest as never)), apiVersion, kind };
}

const created = (namespace: string): Promise<Workload> =>
  store(deployment, createWorkload(deployment, namespace, `app-${(count += 1)}`, { pod }));

function injected(workload: Workload, injector = guarded.injector): Workload {
  const result = inject(clean(workload), { ...injector, ...tracing, env: { [SETTING]: { value: 'a' } } });
  if (result.refused !== undefined) throw new Error(result.refused);
  return withTemplate(workload, result.template);
}
const clean = (workload: Workload): PodTemplate => {
  const template = toTemplate(workload);
  if (template === undefined) throw new Error('no template');
  return template;
};

const setVariable =
  (name: string) =>
  ({ spec, ...rest }: PodTemplate): PodTemplate => {
    const others = (env: Container['env'] = []) => env.filter((each) => each.name !== name);
    const containers = spec.containers.map((each) => ({ ...each, env: [...others(each.env), { name, value: '{}' }] }));
    return { ...rest, spec: { ...spec, containers } };
  };
const setMetadata =
  (field: 'labels' | 'annotations', key: string, value: string) =>
  ({ metadata = {}, spec }: PodTemplate): PodTemplate => ({
    metadata: { ...metadata, [field]: { ...metadata[field], [key]: value } },
    spec,
  });

/** The manager's pods have entries of their own. Another validation is about their removal. */
const addSafeVolume = (template: PodTemplate): PodTemplate => {
  const list = join(template.metadata?.annotations?.[annotations.safeToEvict], injector.volume, ',');
  return setMetadata('annotations', annotations.safeToEvict, list)(template);
};

interface Attack {
  readonly injector?: object;
  readonly variable?: { readonly name: string; readonly [field: string]: unknown };
  readonly volume?: object;
  readonly mount?: object;
  readonly record?: object;
  readonly recordText?: (text: string) => string;
}

/** Returns an injected template whose injector, volume, mount, record or variable an attacker has changed. */
function forge({ metadata, spec }: PodTemplate, attack: Attack): PodTemplate {
  const {
    variable,
    volume,
    record,
    recordText = (text) => JSON.stringify({ ...(JSON.parse(text) as object), ...record }),
  } = attack;
  const isOurs = ({ name }: { readonly name: string }) => name === injector.volume;
  const text = recordText(metadata?.annotations?.[annotations.injection] ?? '');
  return {
    metadata: { ...metadata, annotations: { ...metadata?.annotations, [annotations.injection]: text } },
    spec: {
      ...spec,
      initContainers: (spec.initContainers ?? []).map((each) => ({ ...each, ...attack.injector })),
      containers: spec.containers.map(({ env = [], volumeMounts = [], ...rest }) => ({
        ...rest,
        env: variable === undefined ? env : [...env.filter(({ name }) => name !== variable.name), variable],
        volumeMounts: volumeMounts.map((each) => (isOurs(each) ? { ...each, ...attack.mount } : each)),
      })),
      volumes: (spec.volumes ?? []).map((each) => (isOurs(each) && volume ? { name: each.name, ...volume } : each)),
    },
  };
}
const withForged = (workload: Workload, attack: Attack) => withTemplate(workload, forge(clean(workload), attack));
const keeping = (kept: object, more: object = {}): Attack => ({ record: { kept: { app: kept }, ...more } });
const later = { format: 9, variables: [environment.preload] };

const hardened = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true };
const getSecret = (name: string, more: object = {}) => ({ valueFrom: { secretKeyRef: { name, key: 'k', ...more } } });

const addField = (field: string) => (text: string) => text.replace(/(,"kept":.*)?\}$/, `,${field}}`);
const escapedMount = String.raw`"mount":{"name":"users","mountPath":"/opt/lumigo","sub\u0050ath":"evil"}`;

const attacks: readonly (readonly [string, Attack])[] = [
  ['another image of the injector', { injector: { image: 'evil:1' } }],
  ['a command of the injector', { injector: { command: ['sh'] } }],
  ['arguments of the injector', { injector: { args: ['x'] } }],
  ['a variable of the injector', { injector: { env: [{ name: 'TARGET_DIRECTORY', value: '/host' }] } }],
  [
    'one more variable of the injector',
    { injector: { env: [{ name: 'TARGET_DIRECTORY', value: '/target' }, { name: 'A' }] } },
  ],
  ['variables of the injector from elsewhere', { injector: { envFrom: [{ secretRef: { name: 'other' } }] } }],
  ['a mount of the injector', { injector: { volumeMounts: [{ name: 'other', mountPath: '/target' }] } }],
  ['an injector that runs on', { injector: { restartPolicy: 'Always' } }],
  ['an injector as root', { injector: { securityContext: { ...hardened, runAsNonRoot: true, runAsUser: 0 } } }],
  ['an injector with privileges', { injector: { securityContext: { privileged: true } } }],
  ['an injector without a security context', { injector: { securityContext: undefined } }],
  ['an injector that requests much', { injector: { resources: { requests: { cpu: '50' } } } }],
  ['an injector that is limited only', { injector: { resources: { limits: { memory: '50Gi' } } } }],
  ['a device of the injector', { injector: { resources: { limits: { 'example.com/gpu': '1' } } } }],
  ['another pull policy of the injector', { injector: { imagePullPolicy: 'Always' } }],
  ['a host path as our volume', { volume: { hostPath: { path: '/' } } }],
  ['a Secret as our volume', { volume: { secret: { secretName: 'other' } } }],
  ['our volume in memory', { volume: { emptyDir: { medium: 'Memory' } } }],
  ['our mount with write access', { mount: { readOnly: undefined } }],
  ['our mount elsewhere', { mount: { mountPath: '/usr' } }],
  ['a part of our volume', { mount: { subPath: 'evil' } }],
  ['another volume at our path', { mount: { name: 'other' } }],
  [
    'another library before the injector',
    { variable: { name: environment.preload, value: `/evil.so:${injector.preload}` } },
  ],
  ['another library in place of the own one', { variable: { name: environment.preload, value: '/evil.so' } }],
  ['no own library', { variable: { name: environment.preload, value: injector.preload } }],
  ['a library from a Secret', { variable: { name: environment.preload, ...getSecret('other') } }],
  ['another endpoint', { variable: { name: environment.endpoint, value: 'http://evil/v1/traces' } }],
  ['an endpoint from a Secret', { variable: { name: environment.endpoint, ...getSecret('other') } }],
  ['a token as text', { variable: { name: environment.token, value: 't_evil' } }],
  ['a token that must exist', { variable: { name: environment.token, ...getSecret('other') } }],
  ['another name of the container', { variable: { name: 'LUMIGO_CONTAINER_NAME', value: 'other' } }],
  ['a setting from a field', { variable: { name: SETTING, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } } }],
  ['a setting that must exist', { variable: { name: SETTING, ...getSecret('other') } }],
  [
    'a setting of another name',
    { record: { env: { NODE_OPTIONS: { value: 'x' } } }, variable: { name: 'NODE_OPTIONS', value: 'x' } },
  ],
  ['a flag that is none', { variable: { name: 'LUMIGO_ENABLE_TRACES', value: 'evil' } }],
  ['a record of another value', keeping({ env: [{ name: environment.endpoint, value: 'http://evil' }] })],
  ['a record of another reference', keeping({ env: [{ name: 'LUMIGO_ENABLE_LOGS', ...getSecret('other') }] })],
  ['a record of another mount', keeping({ mount: { name: 'other', mountPath: '/opt/lumigo' } })],
  ['a record of more of the mount', keeping({ mount: { ...users, subPath: 'evil' } })],
  ['a record of a pull secret', { record: { pullSecrets: ['users'] } }],
  ['a record of a variable', { record: { format: 9, variables: ['PATH'] } }],
  ['a record of a setting of another name', { record: { env: { NODE_OPTIONS: { value: 'x' } } } }],
  ['a record of a library from a Secret', keeping({ env: [{ name: environment.preload, ...getSecret('other') }] })],
  ['a record of a library of a later version', keeping({ env: [{ name: environment.preload, value: '/x' }] }, later)],
  ['a record of a name with a bracket before a pull secret', { record: { pullSecrets: [']', 'users'] } }],
  ['a record of a variable after a space', { recordText: addField('"format":9,"variables" :["PATH"]') }],
  ['a record with two lists of variables', { recordText: addField('"format":9,"variables":[],"variables":["PATH"]') }],
  ['a record of a mount whose key is escaped', { recordText: addField(`"kept":{"app":{${escapedMount}}}`) }],
  ['a value in what is no JSON', { recordText: (text) => `${text}{"name":"LUMIGO_ENDPOINT","value":"http://evil"}` }],
];

describe('the guard', () => {
  let plain: Workload;
  let stored: Workload;
  beforeAll(async () => {
    const namespace = await guarded.testCluster.namespace('forged');
    plain = await created(namespace);
    stored = await created(namespace);
    stored = await write(guarded.manager, stored, injected(stored));
  });

  it.each(attacks)('refuses %s in an injected workload and in one that is being injected', async (_what, attack) => {
    for (const [before, after] of [
      [plain, injected(plain)],
      [stored, stored],
    ] as const)
      expect(await refusal(write(guarded.manager, before, withForged(after, attack)))).toContain(guardAnswer);
  });

  const spaced = '{ "name": "LUMIGO_ENDPOINT", "value": "http://evil" }';
  const swapped = '{"value":"http://evil","name":"LUMIGO_ENDPOINT"}';
  const escaped = String.raw`{"n\u0061me":"LUMIGO_ENDPOINT","value":"http://evil"}`;
  it.each([spaced, swapped, escaped])(
    'accepts no record that the operator never writes, and restores nothing from it: %s',
    async (entry) => {
      const { testCluster, manager, cluster } = guarded;
      const namespace = await testCluster.namespace('forged');
      const before = await created(namespace);
      const after = injected(before);
      const recordText = (text: string) => text.replace(/"kept":.*/, `"kept":{"app":{"env":[${entry}]}}}`);
      const forged = withForged(after, { recordText });
      expect(await refusal(write(manager, before, forged))).toContain(guardAnswer);
      // The webhook would restore it, so the manager must not write it. Other accounts may.
      const stored = await write(cluster.client, before, forged);
      const evil = remove(clean(stored));
      expect(JSON.stringify(evil)).toContain('http://evil');
      expect(await refusal(write(manager, stored, withTemplate(stored, evil)))).toContain(guardAnswer);
    },
  );

  it.each(['kube-system', 'lumigo-system'])(
    'lets only other accounts inject in %s, and allows a removal',
    async (namespace) => {
      const { manager, cluster } = guarded;
      const before = await created(namespace);
      expect(await refusal(write(manager, before, injected(before)))).toContain('excluded namespace');
      const stored = await write(cluster.client, before, injected(before));
      const removed = remove(clean(stored));
      const evil = withTemplate(stored, setVariable(SETTING)(removed));
      expect(await refusal(write(manager, stored, evil))).toContain(guardAnswer);
      expect(clean(await write(manager, stored, withTemplate(stored, removed)))).toEqual(clean(before));
    },
  );

  it.each<[string, (template: PodTemplate) => PodTemplate]>([
    ['the configuration of the operator', setVariable('LUMIGO_CONFIG')],
    ['a setting of tracers', setVariable(SETTING)],
    ['an annotation', setMetadata('annotations', `${lumigo.group}/x`, 'y')],
    ['a record, which could be removed', setMetadata('annotations', annotations.injection, '{}')],
    ['an entry for the autoscaler', addSafeVolume],
    ['a label', setMetadata('labels', labels.autoTrace, 'true')],
  ])('refuses %s in the pod template of the updater, the manager, or kube-system', async (_what, change) => {
    const { installation, testCluster, manager } = guarded;
    const { name, namespace } = installation.settings;
    const all = [
      await testCluster.get(cronJob, namespace, `${name}${suffixes.updater}`),
      await testCluster.get(deployment, namespace, `${name}${suffixes.manager}`),
      await created('kube-system'),
    ];
    for (const before of all) {
      const after = withTemplate(before, change(clean(before)));
      expect(await refusal(write(manager, before, after))).toContain('excluded namespace');
    }
  });

  it('lets the operator replace its own pods, and no others', async () => {
    const { manager, installation, testCluster } = guarded;
    const { name, namespace } = installation.settings;
    const body = { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } };
    const own = { ...deployment, namespace, name: `${name}-controller-manager` };
    expect(await refusal(manager.patch(own, { kind: 'merge', body }))).toBeUndefined();
    const other = await created(await testCluster.namespace('forged'));
    const ref = { ...deployment, namespace: other.metadata.namespace, name: other.metadata.name ?? '' };
    expect(await refusal(manager.patch(ref, { kind: 'merge', body }))).toContain(guardAnswer);
  });

  it('lets the operator ask if the API server accepts a workload as it is', async () => {
    for (const { metadata } of [plain, stored]) {
      const ref = { ...deployment, namespace: metadata.namespace, name: metadata.name ?? '' };
      const asked = guarded.manager.patch(ref, { kind: 'merge', body: {} }, { dryRun: true });
      expect(await refusal(asked)).toBeUndefined();
    }
  });

  it('refuses the flags of a Lumigo resource without monitoredNamespaces', async () => {
    const namespace = await guarded.testCluster.namespace('flags');
    await apply(guarded.cluster.client, getLumigo(namespace));
    const body = { spec: { logging: { enabled: true } } };
    const written = guarded.manager.patch({ ...lumigo, namespace, name: 'lumigo' }, { kind: 'merge', body });
    expect(await refusal(written)).toContain(guardAnswer);
  });
});

const CHANGES = 60;
const counts = { refused: 0, allowed: 0 };

let namespace: string;
beforeAll(async () => {
  namespace = await guarded.testCluster.namespace('refused');
});

const changeable = workloads.filter(({ mutable }) => mutable).map((kind) => [kind.kind, kind] as const);

const labelled = (name: string, { metadata, ...rest }: PodTemplate): PodTemplate => ({
  ...rest,
  metadata: { ...metadata, labels: { ...metadata?.labels, app: name } },
});

const storeTemplate = (kind: WorkloadKind, name: string, template: PodTemplate): Promise<Workload> =>
  store(kind, withTemplate(createWorkload(kind, namespace, name) as unknown as Workload, template));

function make(kind: WorkloadKind, index: number, template: PodTemplate): Promise<Workload> {
  const name = `app-${index}`;
  const own = labelled(name, template);
  const result = inject(own, { ...guarded.injector, ...tracing });
  return storeTemplate(kind, name, result.refused === undefined && index % 2 === 0 ? result.template : own);
}

const content = ({ metadata, ...rest }: Workload) => {
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return JSON.parse(JSON.stringify({ ...rest, metadata: kept })) as object;
};

async function attack(kind: WorkloadKind, workload: Workload, { name, patch }: ForeignChange): Promise<void> {
  const ref = { ...kind, namespace, name: workload.metadata.name ?? '' };
  let after: object | undefined;
  const write = guarded.manager.patch(ref, { kind: 'json', operations: patch }, { dryRun: true });
  const answer = await refusal(write.then(({ object }) => (after = object)));
  if (answer === undefined) {
    const { apiVersion, kind: of } = workload;
    const same = content({ ...(after as Workload), apiVersion, kind: of });
    // The API server does not store some changes, such as an unknown field.
    expect({ name, after: same }).toEqual({ name, after: content(workload) });
  } else if (answer.includes(guardAnswer)) counts.refused += 1;
}

describe.each(changeable)('the guard over a %s', (_name, kind) => {
  it('refuses each change that is not an injection, a removal or a note', async () => {
    let count = 0;
    const before = counts.refused;
    const restartPolicy = kind.kind === 'CronJob' ? 'Never' : 'Always';
    const picks = fc.array(fc.noBias(fc.nat()), { minLength: CHANGES, maxLength: CHANGES });
    await fc.assert(
      fc.asyncProperty(podTemplate({ restartPolicy }), picks, async (template, chosen) => {
        count += 1;
        const workload = await make(kind, count, template);
        expect(toTemplate(workload)).toBeDefined();
        const changes = foreignChanges(workload);
        for (const pick of chosen) await attack(kind, workload, changes[pick % changes.length] as ForeignChange);
      }),
      { ...fuzz, numRuns: 2, endOnFailure: true },
    );
    expect(counts.refused - before).toBeGreaterThan(25);
  });

  it('refuses each change of a small one, with a container and an init container', async () => {
    const pod = { containers: [{ name: 'app', image: 'app:1' }], initContainers: [{ name: 'init', image: 'init:1' }] };
    const workload = await store(kind, createWorkload(kind, namespace, 'each', { pod }));
    const before = counts.refused;
    const changes = foreignChanges(workload);
    for (const change of changes) await attack(kind, workload, change);
    expect(counts.refused - before).toBeGreaterThan(changes.length / 3);
  });
});

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const own = [
  { name: 'LD_PRELOAD', value: '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2' },
  { name: 'LUMIGO_ENDPOINT', value: 'https://own.example.com/v1/traces' },
  { name: 'LUMIGO_TRACER_TOKEN', valueFrom: { secretKeyRef: { name: 'own', key: 'token' } } },
];
const mount = { name: 'own', mountPath: '/opt/lumigo' };
const volumes = [{ name: 'own', emptyDir: {} }];
const app = (index: number, more: object = {}) => ({ name: `app-${index}`, image: 'app:1', ...more });
const variables = (count: number, value = 'x') => many(count, (index) => ({ name: `VARIABLE_${index}`, value }));

const pods: readonly (readonly [string, object])[] = [
  ['thousands of variables', { containers: [app(0, { env: [...own, ...variables(1_900)] })] }],
  ['long variables', { containers: [app(0, { env: [...own, ...variables(100, 'x'.repeat(2_400))] })] }],
  [
    'long values that the injection replaces',
    { containers: [app(0, { env: [{ name: 'LUMIGO_ENDPOINT', value: 'x"'.repeat(21_500) }] })] },
  ],
  ['long libraries', { containers: [app(0, { env: [{ name: 'LD_PRELOAD', value: '/x.so:'.repeat(10_000) }] })] }],
  ['dozens of containers', { containers: many(90, (index) => app(index)) }],
  [
    'dozens of containers with values that the injection replaces',
    { volumes, containers: many(50, (index) => app(index, { env: own, volumeMounts: [mount] })) },
  ],
  [
    'dozens of init containers',
    { initContainers: many(150, (index) => app(index)), containers: [{ name: 'app', image: 'app:1' }] },
  ],
  [
    'hundreds of volumes',
    { volumes: many(900, (index) => ({ name: `v${index}`, emptyDir: {} })), containers: [app(0)] },
  ],
  [
    'hundreds of mounts',
    {
      volumes,
      containers: [app(0, { volumeMounts: many(900, (index) => ({ name: 'own', mountPath: `/m/${index}` })) })],
    },
  ],
];

/** The API server limits the cost of a policy, so the largest object must stay below the limit. */
describe('the guard allows an injection, a change of it and its removal', () => {
  it.each(pods)('with %s', async (_what, pod) => {
    const { testCluster, manager, injector } = guarded;
    const namespace = await testCluster.namespace('largest');
    const decided = (workload: Workload, traces: boolean) => {
      const policy = activePolicy({ ...tracing, traces });
      const context = { operation: 'RECONCILE', by: 'controller', now: new Date().toISOString() } as const;
      const decision = decide({ ...context, workload, policy, injector });
      if (decision.kind !== 'inject') throw new Error(decision.message);
      return decision.workload;
    };
    const before = await store(deployment, createWorkload(deployment, namespace, 'app', { pod }));
    const injected = await write(manager, before, decided(before, true));
    const changed = await write(manager, injected, decided(injected, false));
    const removed = await write(manager, changed, uninstrument(changed));
    expect(removed['spec']).toEqual(before['spec']);
  });
});

it('allows each removal in a namespace that is excluded by now', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(podTemplate(), async (template) => {
      const name = `removed-${(count += 1)}`;
      const made = createWorkload(deployment, 'kube-system', name) as unknown as Workload;
      const result = inject(labelled(name, template), { ...guarded.injector, ...tracing });
      fc.pre(result.refused === undefined);
      const stored = await store(deployment, withTemplate(made, result.template));
      expect(await refusal(write(guarded.manager, stored, uninstrument(stored)))).toBeUndefined();
    }),
    { ...fuzz, numRuns: 40, endOnFailure: true },
  );
});

/** Last, because these settings allow changes of pull secrets that the tests above refuse. */
describe('the guard of an installation with pull secrets', () => {
  let ownInjector: InjectorSettings;
  beforeAll(async () => {
    const { manager, cluster, testCluster } = guarded;
    const { settings } = await install(cluster.client, {
      settings: { injection: { imagePullSecrets: ['registry', 'mine'] } },
    });
    ownInjector = toInjector(runtimeConfig(settings, 'Manifests'));
    const before = await created(await testCluster.namespace('probe'));
    await eventually(async () =>
      expect(await refusal(write(manager, before, injected(before, ownInjector)))).toBeUndefined(),
    );
    namespace = await testCluster.namespace('allowed');
  });

  /** A step of a user that the API server refuses is skipped. */
  async function take({ by, name, change }: Step, workload: Workload): Promise<Workload> {
    const after = change(workload, ownInjector);
    if (after === undefined) return workload;
    if (by === 'user') return write(guarded.cluster.client, workload, after).catch(() => workload);
    counts.allowed += 1;
    return write(guarded.manager, workload, after).catch((error: unknown) => {
      if (!(error as Error).message.includes(guardAnswer)) return workload;
      throw new Error(`${name}: ${(error as Error).message}\n${JSON.stringify([workload, after])}`);
    });
  }

  it.each(changeable)('allows each injection, removal and note of the reconciler: %s', async (_name, kind) => {
    let count = 0;
    const restartPolicy = kind.kind === 'CronJob' ? 'Never' : 'Always';
    await fc.assert(
      fc.asyncProperty(podTemplate({ restartPolicy }), steps, async (template, taken) => {
        const name = `app-${(count += 1)}`;
        let workload = await storeTemplate(kind, name, labelled(name, template));
        for (const step of taken) workload = await take(step, workload);
      }),
      { ...fuzz, numRuns: 40, endOnFailure: true },
    );
    expect(counts.allowed).toBeGreaterThan(20);
  });
});
