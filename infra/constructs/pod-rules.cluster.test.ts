import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { annotations, injector, labels } from '../../runtime/contract.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { isInstrumented } from '../../sandbox/lumigo.ts';
import {
  podMode,
  setActive,
  startPodMode,
  tracedNamespace,
  waitForInjectedPods,
  type PodModeCluster,
} from '../../sandbox/testing/pod-policy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getPod } from '../../sandbox/testing/workloads.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

/** No operator runs: the API server alone evaluates the policy. */

let on: PodModeCluster;
let traced: string;
beforeAll(async () => {
  on = await startPodMode();
  traced = await tracedNamespace(on);
});
afterAll(() => on?.stop());

const app = { name: 'app', image: 'app:1' };
const pod = ({
  metadata = {},
  spec = {},
  container = {},
}: {
  metadata?: object;
  spec?: object;
  container?: object;
}) => {
  const { metadata: own, spec: plain } = getPod('any', 'app');
  return {
    ...getPod('any', 'app'),
    metadata: { ...own, ...metadata },
    spec: { ...plain, containers: [{ ...app, ...container }], ...spec },
  } as Workload;
};
const restrictedPod = pod({
  container: {
    securityContext: {
      ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, runAsUser: 1_000 },
      ...{ capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
    },
  },
});
const volumes = [{ name: 'data', emptyDir: {} }];
const mountedAt = (...paths: readonly string[]) => ({
  volumeMounts: paths.map((mountPath) => ({ name: 'data', mountPath })),
});
const resources = (limits: object) => ({ resources: { limits } });

describe('in a namespace in Pod mode, the policy', () => {
  it.each<[string, Workload]>([
    ['that opts out, in any case', pod({ metadata: { labels: { [labels.autoTrace]: 'False' } } })],
    [
      'that mirrors a file of its node',
      pod({ metadata: { annotations: { [annotations.mirror]: 'x' } }, spec: { nodeName: 'node' } }),
    ],
    ['for Windows', pod({ spec: { os: { name: 'windows' } } })],
    ['for another processor', pod({ spec: { nodeSelector: { 'kubernetes.io/arch': 's390x' } } })],
    [
      'with an LD_PRELOAD from a reference',
      pod({ container: { env: [{ name: 'LD_PRELOAD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] } }),
    ],
    ['with a mount below the injector', pod({ spec: { volumes }, container: mountedAt('/opt//lumigo/lib') })],
    [
      'with two mounts at the injector',
      pod({ spec: { volumes }, container: mountedAt('/opt/lumigo', '/opt/lumigo/') }),
    ],
    [
      'with a read-only mount above the injector',
      pod({
        spec: { volumes },
        container: { volumeMounts: [{ name: 'data', mountPath: '/opt', readOnly: true }] },
      }),
    ],
    ['of a known sidecar', pod({ container: { name: 'istio-proxy' } })],
    ['that excludes its container', pod({ metadata: { annotations: { [annotations.excludeContainers]: 'app' } } })],
    ['that includes another', pod({ metadata: { annotations: { [annotations.injectContainers]: 'other' } } })],
    ['with a volume of that name', pod({ spec: { volumes: [{ name: injector.volume, emptyDir: {} }] } })],
    ['with a container of that name', pod({ container: { name: injector.container } })],
    ['with too little storage', pod({ container: resources({ 'ephemeral-storage': '100M' }) })],
    ['with too little of a processor', pod({ container: resources({ cpu: '10m' }) })],
    ['whose annotations are full', pod({ metadata: { annotations: { note: 'x'.repeat(256 * 1024 - 100) } } })],
  ])('skips a pod %s', async (_what, given) => {
    expect(isInstrumented(await on.dryRun(given, traced))).toBe(false);
  });

  it('injects a pod once, so that Pod Security `restricted` accepts it', async () => {
    const namespace = await tracedNamespace(on);
    const enforced = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } };
    const ref = { ...kinds.namespaces, name: namespace };
    await on.cluster.client.patch(ref, { kind: 'merge', body: enforced });
    await eventually(() => expect(on.dryRun(pod({}), namespace)).rejects.toThrow('restricted'));
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
    const namespace = await on.namespace('changing');
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
    await on.testCluster.changeLumigo(namespace, { metadata: { finalizers: ['operator.lumigo.io/lumigo-finalizer'] } });
    const ref = { group: 'operator.lumigo.io', version: 'v1alpha1', plural: 'lumigoes', namespace, name: 'lumigo' };
    await on.cluster.client.delete(ref);
    await waitForInjectedPods(on.testCluster, namespace, false);
    await on.testCluster.changeLumigo(namespace, { metadata: { finalizers: [] } });
    await on.testCluster.lumigo(namespace, podMode);
    await setActive(on.testCluster, namespace);
    await waitForInjectedPods(on.testCluster, namespace);
  });

  it('in its own namespace', async () => {
    const own = on.installation.settings.namespace;
    await on.testCluster.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: own, name: 'default' },
    });
    await on.testCluster.lumigo(own, podMode);
    await setActive(on.testCluster, own);
    // The policy is in effect for a later namespace, so it would be for this one.
    await tracedNamespace(on);
    expect(await probe(own)).toBe(false);
  });
});
