import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { injected as injectedBy, settings } from '../../sandbox/testing/injection.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { mutableKinds, createWorkload } from '../../sandbox/testing/workloads.ts';
import { workloadKinds, workloads } from '../contract.ts';
import { guarded } from '../kubernetes/http/client.ts';
import { inject } from './inject.ts';
import { workloadPatch } from './patch.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { remove } from './remove.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

/** A fixed seed makes failures reproducible. */
const SEED = 20_261_120;
const COUNT = 60;

let cluster: ControlPlane;
let testCluster: TestCluster;
let namespace: string;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  testCluster = new TestCluster(cluster.client);
  namespace = await testCluster.namespace('laws');
});
afterAll(() => cluster?.stop());

const named = (name: string, template: PodTemplate, kind: (typeof workloads)[number]): Workload => {
  const plain = createWorkload(kind, namespace, name) as unknown as Workload;
  const metadata = { ...template.metadata, labels: { ...template.metadata?.labels, app: name } };
  return withTemplate(plain, { ...template, metadata });
};

const samples = (restartPolicy: 'Always' | 'Never') =>
  fc.sample(podTemplate({ restartPolicy }), { seed: SEED, numRuns: COUNT });

describe('the laws, as the API server sees them', () => {
  it.each(mutableKinds)(
    'a %s: the API server stores the patch exactly, and the removal restores the original',
    async (_name, kind) => {
      const templates = samples(kind.kind === 'CronJob' ? 'Never' : 'Always');
      const chosen = templates.filter((_template, index) => index % 5 === workloads.indexOf(kind) % 5);
      let injections = 0;
      for (const [index, template] of chosen.entries()) {
        const ref = { ...kind, namespace, name: `app-${index}` };
        const created = await testCluster.create(named(ref.name, template, kind) as never);
        const before = { ...created, apiVersion: kind.apiVersion, kind: kind.kind } as Workload;
        const stored = toTemplate(before);
        if (stored === undefined) throw new Error('no template');
        const result = inject(stored, settings);
        if (result.refused !== undefined) continue;
        injections += 1;
        const after = withTemplate(before, result.template);
        await cluster.client.patch(ref, guarded(before.metadata.resourceVersion ?? '', workloadPatch(before, after)));
        const injected = await testCluster.get(kind, namespace, ref.name);
        expect(toTemplate(injected)).toEqual(result.template);
        const again = injectedInto(toTemplate(injected) ?? result.template);
        expect(workloadPatch(injected, withTemplate(injected, again))).toEqual([]);
        const back = withTemplate(injected, remove(result.template));
        await cluster.client.patch(
          ref,
          guarded(injected.metadata.resourceVersion ?? '', workloadPatch(injected, back)),
        );
        expect(JSON.stringify(await testCluster.toTemplate(kind, namespace, ref.name))).toBe(JSON.stringify(stored));
      }
      expect(injections).toBeGreaterThan(chosen.length / 3);
    },
  );

  it('a Job, whose template cannot change, is stored as the webhook patches it, without defaults', async () => {
    const kind = workloadKinds.job;
    let injections = 0;
    for (const [index, template] of samples('Never')
      .slice(0, COUNT / 5)
      .entries()) {
      const plain = named(`job-${index}`, template, kind);
      if (injectedBy(template) === undefined) continue;
      injections += 1;
      const dryRun = async (job: Workload) => {
        const collection = { ...kind, namespace };
        const { object } = await cluster.client.create(collection, job as never, { dryRun: true });
        return toTemplate({ ...object, apiVersion: kind.apiVersion, kind: kind.kind } as Workload);
      };
      const stored = await dryRun(plain);
      if (stored === undefined) throw new Error('no template');
      const patched = withTemplate(plain, injectedInto(toTemplate(plain) ?? stored));
      expect(ownParts(await dryRun(patched))).toEqual(ownParts(injectedInto(stored)));
    }
    expect(injections).toBeGreaterThan(COUNT / 5 / 3);
  });

  describe('a pod', () => {
    const dryRun = async (into: string, { metadata, spec }: PodTemplate): Promise<string> => {
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'pod', namespace: into }, spec };
      const ref = { group: '', version: 'v1', plural: 'pods', namespace: into };
      const { object } = await cluster.client.create(ref, pod as never, { dryRun: true });
      return (object as unknown as { status: { qosClass: string } }).status.qosClass;
    };

    const ready = async (enforce: 'privileged' | 'restricted') => {
      const name = await testCluster.namespace(enforce, { labels: { 'pod-security.kubernetes.io/enforce': enforce } });
      // A pod needs a ServiceAccount, and no controller creates it here.
      await testCluster.create({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', namespace: name },
      });
      return name;
    };

    it('keeps its quality-of-service class, in samples of every class [D46]', async () => {
      const into = await ready('privileged');
      const seen = new Set<string>();
      for (const template of samples('Always')) {
        const injected = injectedBy(template);
        if (injected === undefined) continue;
        const before = await dryRun(into, template);
        expect(await dryRun(into, injected)).toBe(before);
        seen.add(before);
      }
      expect([...seen].toSorted()).toEqual(['BestEffort', 'Burstable', 'Guaranteed']);
    });

    it('stays allowed or refused in a `restricted` namespace [D4]', async () => {
      const into = await ready('restricted');
      let accepted = 0;
      for (const template of samples('Always').flatMap((each) => [each, harden(each)])) {
        const before = await dryRun(into, template).catch(violation);
        const injected = injectedBy(template);
        if (injected === undefined) continue;
        const after = await dryRun(into, injected).catch(violation);
        expect(after).toBe(before);
        if (before !== 'violates') accepted += 1;
      }
      expect(accepted).toBeGreaterThan(COUNT / 3);
    });
  });
});

function violation(error: unknown): string {
  if (error instanceof Error && error.message.includes('violates PodSecurity')) return 'violates';
  throw error;
}

function injectedInto(template: PodTemplate): PodTemplate {
  const injected = injectedBy(template);
  if (injected === undefined) throw new Error('it cannot be injected');
  return injected;
}

/** The API server adds a label with its uid to every Job. */
function ownParts(template: PodTemplate | undefined): object {
  const own = Object.entries(template?.metadata?.labels ?? {}).filter(
    ([key]) => !/(^|\/)(controller-uid|job-name)$/.test(key),
  );
  return { ...template, metadata: { ...template?.metadata, labels: Object.fromEntries(own) } };
}

function harden({ spec, ...rest }: PodTemplate): PodTemplate {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const all = <T extends object>(containers: readonly T[] = []) =>
    containers.map((container) => ({ ...container, securityContext }));
  const { initContainers, hostNetwork: _network, ...others } = spec as PodTemplate['spec'] & { hostNetwork?: boolean };
  return {
    ...rest,
    spec: {
      ...others,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: all(spec.containers),
      ...(initContainers === undefined ? {} : { initContainers: all(initContainers) }),
    },
  };
}
