import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { Bench } from '../../sandbox/testing/bench.ts';
import { workloadOf } from '../../sandbox/testing/workloads.ts';
import { workloads } from '../contract.ts';
import { guarded } from '../kubernetes/client.ts';
import { inject } from './inject.ts';
import { workloadPatch } from './patch.ts';
import { podTemplate } from './pod-template.arbitrary.ts';
import { remove } from './remove.ts';
import type { InjectionSettings, PodTemplate, Workload } from './types.ts';
import { templateOf, withTemplate } from './workload.ts';

const settings: InjectionSettings = {
  version: '1.0.0',
  image: 'lumigo-autotrace:1',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: ['registry'],
  endpoint: 'http://proxy.lumigo-system.svc.cluster.local',
  platform: 'kubernetes',
  secretName: 'lumigo-credentials',
  secretKey: 'token',
  traces: true,
  logs: false,
};

/** The same ones every time, so that a failure can be looked at. */
const SEED = 20_261_120;
const COUNT = 60;

let cluster: ControlPlane;
let bench: Bench;
let namespace: string;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  bench = new Bench(cluster.client);
  namespace = await bench.namespace('laws');
});
afterAll(() => cluster?.stop());

const named = (name: string, template: PodTemplate, kind: (typeof workloads)[number]): Workload => {
  const plain = workloadOf(kind, namespace, name) as unknown as Workload;
  const metadata = { ...template.metadata, labels: { ...template.metadata?.labels, app: name } };
  return withTemplate(plain, { ...template, metadata });
};

const samples = (restartPolicy: 'Always' | 'Never') =>
  fc.sample(podTemplate({ restartPolicy }), { seed: SEED, numRuns: COUNT });

describe('the laws, as the API server sees them', () => {
  it.each(workloads.filter(({ mutable }) => mutable).map((kind) => [kind.kind, kind] as const))(
    'a %s: the patch is taken, what is stored is what was meant, and removing it restores what was there',
    async (_name, kind) => {
      const templates = samples(kind.kind === 'CronJob' ? 'Never' : 'Always');
      const chosen = templates.filter((_template, index) => index % 5 === workloads.indexOf(kind) % 5);
      let injections = 0;
      for (const [index, template] of chosen.entries()) {
        const ref = { ...kind, namespace, name: `app-${index}` };
        const created = await bench.create(named(ref.name, template, kind) as never);
        const before = { ...created, apiVersion: kind.apiVersion, kind: kind.kind } as Workload;
        const stored = templateOf(before);
        if (stored === undefined) throw new Error('no template');
        const result = inject(stored, settings);
        if (result.refused !== undefined) continue;
        injections += 1;
        const after = withTemplate(before, result.template);
        await cluster.client.patch(ref, guarded(before.metadata.resourceVersion ?? '', workloadPatch(before, after)));
        const injected = await bench.get(kind, namespace, ref.name);
        expect(templateOf(injected)).toEqual(result.template);
        const again = inject(result.template, settings);
        expect(again).toMatchObject({ template: result.template });
        const back = withTemplate(injected, remove(result.template));
        await cluster.client.patch(
          ref,
          guarded(injected.metadata.resourceVersion ?? '', workloadPatch(injected, back)),
        );
        expect(JSON.stringify(await bench.templateOf(kind, namespace, ref.name))).toBe(JSON.stringify(stored));
      }
      expect(injections).toBeGreaterThan(chosen.length / 3);
    },
  );

  it('D4: a pod that may run in a `restricted` namespace still may, and keeps its quality-of-service class', async () => {
    const restricted = await bench.namespace('restricted', {
      labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    });
    await bench.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: restricted },
    });
    const dryRun = async ({ metadata, spec }: PodTemplate) => {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, name: 'pod', namespace: restricted },
        spec,
      };
      const ref = { group: '', version: 'v1', plural: 'pods', namespace: restricted };
      const { object } = await cluster.client.create(ref, pod as never, { dryRun: true });
      return (object as unknown as { status: { qosClass: string } }).status.qosClass;
    };
    let accepted = 0;
    for (const template of samples('Always')) {
      const hardened = harden(template);
      const before = await dryRun(hardened).catch(() => undefined);
      const result = inject(hardened, settings);
      if (before === undefined || result.refused !== undefined) continue;
      accepted += 1;
      expect(await dryRun(result.template)).toBe(before);
    }
    expect(accepted).toBeGreaterThan(COUNT / 3);
  });
});

/** The same pod, as its author would write it for a restricted namespace. */
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
