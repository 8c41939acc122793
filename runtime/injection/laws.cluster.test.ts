import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { injected as injectedBy } from '../../sandbox/testing/injection.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds, workloads, type WorkloadKind } from '../contract.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { guarded } from '../kubernetes/http/client.ts';
import { workloadPatch } from './patch.ts';
import { remove } from './remove.ts';
import { toTemplate, withTemplate } from './workload.ts';

/** Fixed seeds make failures reproducible. */
const SEED = 20_261_120;
const samples = (count: number, restartPolicy: 'Always' | 'Never' = 'Always', seed = SEED) =>
  fc.sample(podTemplate({ restartPolicy }), { seed, numRuns: count });

let cluster: ControlPlane;
let testCluster: TestCluster;
let namespace: string;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  testCluster = new TestCluster(cluster.client);
  namespace = await testCluster.namespaceForPods('laws', {
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
  });
});
afterAll(() => cluster?.stop());

const named = (name: string, template: PodTemplate, kind: WorkloadKind) => {
  const metadata = { ...template.metadata, labels: { ...template.metadata?.labels, app: name } };
  return withTemplate(createWorkload(kind, namespace, name), { ...template, metadata });
};

describe('the laws, as the API server sees them', () => {
  it.each(mutableKinds)('a %s is stored exactly as patched, and the removal restores it', async (_name, kind) => {
    const templates = samples(12, kind.kind === 'CronJob' ? 'Never' : 'Always', SEED + workloads.indexOf(kind));
    let injections = 0;
    for (const [index, template] of templates.entries()) {
      const name = `app-${index}`;
      const store = async (before: Workload, changed: PodTemplate) => {
        const changes = workloadPatch(before, withTemplate(before, changed));
        const { resourceVersion = '' } = before.metadata;
        await cluster.client.patch({ ...kind, namespace, name }, guarded(resourceVersion, changes));
        return testCluster.get(kind, namespace, name);
      };
      await testCluster.create(named(name, template, kind));
      const before = await testCluster.get(kind, namespace, name);
      const clean = toTemplate(before) as PodTemplate;
      const injected = injectedBy(clean);
      if (injected === undefined) continue;
      injections += 1;
      const after = await store(before, injected);
      expect(toTemplate(after)).toEqual(injected);
      const restored = await store(after, remove(injected));
      expect(JSON.stringify(toTemplate(restored))).toBe(JSON.stringify(clean));
    }
    expect(injections).toBeGreaterThan(templates.length / 3);
  });

  it('a Job, whose template cannot change, is stored as the webhook patches it, without defaults', async () => {
    const store = async (workload: Workload) => toTemplate(await testCluster.dryRun(workload)) as PodTemplate;
    let injections = 0;
    for (const template of samples(12, 'Never')) {
      const plain = named('app', template, workloadKinds.job);
      const injected = injectedBy(toTemplate(plain) as PodTemplate);
      if (injected === undefined) continue;
      injections += 1;
      const expected = injectedBy(await store(plain)) as PodTemplate;
      expect(withoutUid(await store(withTemplate(plain, injected)))).toEqual(withoutUid(expected));
    }
    expect(injections).toBeGreaterThan(4);
  });

  it('a pod stays allowed or refused in a `restricted` namespace [D4]', async () => {
    const isAllowed = ({ metadata, spec }: PodTemplate): Promise<boolean> =>
      testCluster
        .dryRun({ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'pod', namespace }, spec })
        .then(
          () => true,
          (error: Error) => {
            if (error.message.includes('violates PodSecurity')) return false;
            throw error;
          },
        );
    let allowed = 0;
    for (const template of samples(60).flatMap((each) => [each, harden(each)])) {
      const injected = injectedBy(template);
      if (injected === undefined) continue;
      const before = await isAllowed(template);
      expect(await isAllowed(injected)).toBe(before);
      if (before) allowed += 1;
    }
    expect(allowed).toBeGreaterThan(20);
  });
});

/** The API server adds a label with its uid to every Job. */
function withoutUid({ metadata = {}, spec }: PodTemplate) {
  const labels = Object.entries(metadata.labels ?? {}).filter(([key]) => !/(^|\/)(controller-uid|job-name)$/.test(key));
  return { metadata: { ...metadata, labels: Object.fromEntries(labels) }, spec };
}

function harden({ metadata, spec }: PodTemplate): PodTemplate {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const all = <T extends object>(containers: readonly T[] = []) =>
    containers.map((each) => ({ ...each, securityContext }));
  const hardened = {
    ...spec,
    hostNetwork: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: all(spec.containers),
    initContainers: all(spec.initContainers),
  };
  return { metadata, spec: hardened } as PodTemplate;
}
