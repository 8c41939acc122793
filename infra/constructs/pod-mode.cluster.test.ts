import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LabelSelector } from '../../runtime/api/label-selector.ts';
import { annotations, injector, labels, lumigo } from '../../runtime/contract.ts';
import type { InjectorSettings, TracingSettings } from '../../runtime/injection/types.ts';
import { decidePod } from '../../runtime/injection/decide-pod.ts';
import { getTracerVariables } from '../../runtime/injection/tracer-settings.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { isInstrumented } from '../../sandbox/lumigo.ts';
import { limitRange } from '../../sandbox/node/apps.ts';
import { pod } from '../../sandbox/testing/arbitrary/pod.ts';
import { settingValues } from '../../sandbox/testing/arbitrary/tracer-settings.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { fuzz } from '../../sandbox/testing/fuzz.ts';
import { podsPolicy } from '../../sandbox/testing/injection.ts';
import {
  podMode,
  setActive,
  startPodMode,
  tracedNamespace,
  waitForInjectedPods,
  type PodModeCluster,
} from '../../sandbox/testing/pod-policy.ts';
import { getPod } from '../../sandbox/testing/workloads.ts';

/** No operator runs: the API server alone evaluates the policy. */

const PODS = 700;

let on: PodModeCluster;
beforeAll(async () => {
  on = await startPodMode({ imagePullSecrets: ['shared', 'registry'], sidecars: ['istio-proxy', 'own-sidecar'] });
});
afterAll(() => on?.stop());

const secret = { lumigoToken: { secretRef: { name: 'other.secret', key: '_the.Key-1' } } };
const usual = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false };
const env = [
  { name: 'LUMIGO_SECRET_MASKING_REGEX', value: settingValues[1] },
  { name: 'OTEL_SERVICE_NAME', valueFrom: { configMapKeyRef: { name: 'settings', key: 'key' } } },
  { name: 'OTEL_RESOURCE_ATTRIBUTES', valueFrom: { secretKeyRef: { name: 'other.one', key: '.hidden' } } },
];
const openShift = { annotations: { 'openshift.io/sa.scc.uid-range': '1000650000/10000' } };

/** Each selects the probe of a test, and some of the pods. */
const selectors: readonly LabelSelector[] = [
  {
    matchExpressions: [
      { key: 'app', operator: 'Exists' },
      { key: labels.autoTrace, operator: 'NotIn', values: ['maybe', 'true'] },
      { key: 'constructor', operator: 'DoesNotExist' },
    ],
  },
  { matchLabels: { app: 'probe' } },
  { matchExpressions: [{ key: 'app', operator: 'In', values: ['probe', 'app'] }] },
];

interface TracedNamespace {
  readonly spec?: object;
  readonly metadata?: object;
  readonly tracing?: TracingSettings;
  readonly platform?: InjectorSettings['platform'];
  readonly selector?: LabelSelector;
}

const namespaces: readonly TracedNamespace[] = [
  {},
  {
    spec: { ...secret, tracing: { enabled: false, env, ...podMode.tracing }, logging: { enabled: true } },
    tracing: {
      secretName: 'other.secret',
      secretKey: '_the.Key-1',
      traces: false,
      logs: true,
      env: getTracerVariables(env),
    },
  },
  { metadata: openShift, platform: 'openshift' },
];

const selecting = selectors.map((selector) => ({
  spec: { tracing: { injection: { mode: 'Pod', selector } } },
  selector,
}));

const content = ({ metadata, spec }: Workload) => {
  const { [annotations.injection]: _record, ...notes } = metadata.annotations ?? {};
  return { labels: metadata.labels ?? {}, notes, spec };
};

describe('the policy for pods', () => {
  it('injects hundreds of pods as the injection of templates does, if the selector selects them', async () => {
    const counts = { injected: 0, skipped: 0, selected: 0, invalid: 0 };
    const plain = await on.testCluster.namespaceForPods('plain');
    const choice = async (...among: readonly TracedNamespace[]) => {
      const traced: (TracedNamespace & { readonly namespace: string })[] = [];
      for (const each of among)
        traced.push({ ...each, namespace: await tracedNamespace(on, each.spec, each.metadata) });
      return fc.constantFrom(...traced);
    };
    const chosen = fc.oneof(
      { weight: 4, arbitrary: await choice(...namespaces) },
      { weight: 1, arbitrary: await choice(...selecting) },
    );
    await fc.assert(
      fc.asyncProperty(pod('app'), chosen, async (given, { namespace, tracing = usual, ...more }) => {
        const stored = await on.dryRun(given, plain).catch(() => undefined);
        if (stored === undefined) {
          counts.invalid += 1;
          return;
        }
        const { platform = 'kubernetes', selector } = more;
        const policy = { ...podsPolicy(tracing), ...(selector && { selector }) };
        const decision = decidePod(stored, policy, { ...on.injector, platform });
        const isInjected = decision.kind === 'inject';
        expect(content(await on.dryRun(given, namespace))).toEqual(content(isInjected ? decision.workload : stored));
        counts[isInjected ? 'injected' : 'skipped'] += 1;
        if (isInjected && selector !== undefined) counts.selected += 1;
      }),
      { ...fuzz, numRuns: PODS, endOnFailure: true },
    );
    process.stderr.write(`pods in Pod mode: ${JSON.stringify(counts)}; LUMIGO_FUZZ_SEED=${fuzz.seed} repeats them\n`);
    expect(counts.injected).toBeGreaterThan(PODS / 3);
    expect(counts.skipped).toBeGreaterThan(PODS / 10);
    expect(counts.selected).toBeGreaterThan(10);
    expect(counts.invalid).toBeLessThan(PODS / 10);
  }, 600_000);

  it.each([
    ['one container with 2,000 variables', 1, 2_000],
    ['100 containers with 20 variables each', 100, 20],
  ])("stays within the API server's cost limits: %s", async (_what, containers, variables) => {
    const manySettings = range(32, (index) => ({ name: `OTEL_SETTING_NUMBER_${index}`, value: 'x'.repeat(100) }));
    const spec = { tracing: { ...podMode.tracing, env: manySettings } };
    const plain = await on.testCluster.namespaceForPods('plain');
    const traced = await tracedNamespace(on, spec);
    const given = largePod(containers, variables);
    const tracing = { ...usual, env: getTracerVariables(manySettings) };
    const wanted = decidePod(await on.dryRun(given, plain), podsPolicy(tracing), on.injector);
    if (wanted.kind !== 'inject') throw new Error(wanted.message);
    expect(content(await on.dryRun(given, traced))).toEqual(content(wanted.workload));
  });
});

const range = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

const largePod = (containers: number, variables: number): Workload => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'large' },
  spec: {
    automountServiceAccountToken: false,
    volumes: range(5, (index) => ({ name: `volume-${index}`, emptyDir: {} })),
    containers: range(containers, (container) => ({
      name: `app-${container}`,
      image: 'app:1',
      env: range(variables, (index) => ({ name: `VARIABLE_${index}`, value: 'value' })),
      volumeMounts: range(5, (index) => ({ name: `volume-${index}`, mountPath: `/data/${index}` })),
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    })),
  },
});

interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly container?: object;
}

function podWith({ metadata = {}, spec = {}, container = {} }: PodParts): Workload {
  const plain = getPod('any', 'app');
  const containers = [{ name: 'app', image: 'app:1', ...container }];
  return {
    ...plain,
    metadata: { ...plain.metadata, ...metadata },
    spec: { ...plain.spec, containers, ...spec },
  } as Workload;
}
const restrictedPod = podWith({
  container: {
    securityContext: {
      allowPrivilegeEscalation: false,
      runAsNonRoot: true,
      runAsUser: 1_000,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  },
});
const annotated = (key: string, value: string) => ({ metadata: { annotations: { [key]: value } } });
const limited = (limits: object) => ({ container: { resources: { limits } } });
const starting = (first: string, second = '1M', more: object = {}) => {
  const init = (name: string, amount: string) => ({
    name,
    image: 'app:1',
    resources: { limits: { 'ephemeral-storage': amount } },
  });
  return { spec: { initContainers: [init('first', first), { ...init('second', second), ...more }] } };
};
const mounting = (...mounts: readonly object[]) => ({
  spec: { volumes: [{ name: 'data', emptyDir: {} }] },
  container: { volumeMounts: mounts.map((mount) => ({ name: 'data', ...mount })) },
});
const fromField = { name: 'LD_PRELOAD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };

describe('in a namespace in Pod mode, the policy', () => {
  let traced: string;
  beforeAll(async () => {
    traced = await tracedNamespace(on);
  });

  it.each<[string, PodParts]>([
    ['that opts out, in any case', { metadata: { labels: { [labels.autoTrace]: 'False' } } }],
    ['that mirrors a file of its node', { ...annotated(annotations.mirror, 'x'), spec: { nodeName: 'node' } }],
    ['with an LD_PRELOAD from a reference', { container: { env: [fromField] } }],
    ['with a mount below the injector', mounting({ mountPath: '/opt//lumigo/lib' })],
    ['with two mounts at the injector', mounting({ mountPath: '/opt/lumigo' }, { mountPath: '/opt/lumigo/' })],
    ['with a read-only mount above the injector', mounting({ mountPath: '/opt', readOnly: true })],
    ['with a volume of that name', { spec: { volumes: [{ name: injector.volume, emptyDir: {} }] } }],
    ['with a container of that name', { container: { name: injector.container } }],
    ['with too little storage', limited({ 'ephemeral-storage': '100M' })],
    ['whose init container has too little storage', starting('100M')],
    ['with too little storage before its sidecar starts', starting('200M', '100M', { restartPolicy: 'Always' })],
    ['with too little of a processor', limited({ cpu: '10m' })],
    ['whose annotations are full', annotated('note', 'x'.repeat(256 * 1024 - 100))],
  ])('skips a pod %s', async (_what, parts) => {
    expect(isInstrumented(await on.dryRun(podWith(parts), traced))).toBe(false);
  });

  it('injects a pod that a LimitRange then refuses, because its minimum is above what the injector requests', async () => {
    const namespace = await tracedNamespace(on);
    const large = podWith({ container: { resources: { requests: { cpu: '500m' } } } });
    await on.testCluster.create(limitRange(namespace, { min: { cpu: '200m' } }));
    await eventually(() =>
      expect(on.dryRun(large, namespace)).rejects.toThrow('minimum cpu usage per Container is 200m'),
    );
    const optOut = { metadata: { labels: { [labels.autoTrace]: 'false' } } };
    await on.dryRun(podWith({ ...optOut, container: { resources: { requests: { cpu: '500m' } } } }), namespace);
  });

  it('injects a pod once, so that Pod Security `restricted` accepts it', async () => {
    const namespace = await tracedNamespace(on);
    const enforced = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } };
    const ref = { ...kinds.namespaces, name: namespace };
    await on.cluster.client.patch(ref, { kind: 'merge', body: enforced });
    await eventually(() => expect(on.dryRun(podWith({}), namespace)).rejects.toThrow('restricted'));
    const { metadata, spec } = await on.dryRun(restrictedPod, namespace);
    expect(isInstrumented({ spec })).toBe(true);
    const again = await on.dryRun({ ...restrictedPod, metadata, spec } as Workload, namespace);
    expect(again['spec']).toEqual(spec);
  });
});

describe('the policy injects no pod', () => {
  const probe = async (namespace: string) => isInstrumented(await on.dryRun(restrictedPod, namespace));

  it.each<[string, object]>([
    ['in Workload mode', { tracing: { injection: { mode: 'Workload' } } }],
    ['where injection is off', { tracing: { injection: { mode: 'Pod', enabled: false } } }],
    [
      'where the name of the Secret is invalid',
      { ...podMode, lumigoToken: { secretRef: { name: 'A b', key: 'token' } } },
    ],
    ['where the key is invalid', { ...podMode, lumigoToken: { secretRef: { name: 'a', key: '..' } } }],
  ])('%s, and does after a change', async (_what, spec) => {
    const namespace = await on.testCluster.namespaceForPods('changing');
    await on.testCluster.lumigo(namespace, spec);
    await setActive(on.testCluster, namespace);
    expect(await probe(namespace)).toBe(false);
    const valid = { lumigoToken: { secretRef: { name: 'a', key: 'token' } } };
    await on.testCluster.changeLumigo(namespace, {
      spec: { ...valid, tracing: { injection: { mode: 'Pod', enabled: true } } },
    });
    await waitForInjectedPods(on.testCluster, namespace);
    await on.testCluster.changeLumigo(namespace, { spec });
    await waitForInjectedPods(on.testCluster, namespace, false);
  });

  it('if the Lumigo is not active, is being deleted or no longer exists', async () => {
    const namespace = await tracedNamespace(on);
    await setActive(on.testCluster, namespace, 'False');
    await waitForInjectedPods(on.testCluster, namespace, false);
    await setActive(on.testCluster, namespace);
    await waitForInjectedPods(on.testCluster, namespace);
    await on.testCluster.changeLumigo(namespace, { metadata: { finalizers: [lumigo.finalizer] } });
    await on.cluster.client.delete({ ...lumigo, namespace, name: 'lumigo' });
    await waitForInjectedPods(on.testCluster, namespace, false);
    await on.testCluster.changeLumigo(namespace, { metadata: { finalizers: [] } });
    await on.testCluster.lumigo(namespace, podMode);
    await setActive(on.testCluster, namespace);
    await waitForInjectedPods(on.testCluster, namespace);
  });

  it('in its own namespace', async () => {
    const own = on.installation.settings.namespace;
    const metadata = { namespace: own, name: 'default' };
    await on.testCluster.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    await on.testCluster.lumigo(own, podMode);
    await setActive(on.testCluster, own);
    // The policy is in effect for a later namespace, so it would be for this one.
    await tracedNamespace(on);
    expect(await probe(own)).toBe(false);
  });
});
