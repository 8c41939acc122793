import { describe, expect, it } from '@jest/globals';
import { injector } from '../../sandbox/testing/injection.ts';
import { everyKind, workloadOf } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds, type WorkloadKind } from '../contract.ts';
import { decide, type DecisionInput } from './decide.ts';
import { inject } from './inject.ts';
import { isInjected, remove } from './remove.ts';
import type { Container, EnvVar, PodTemplate, Workload } from '../api/objects.ts';
import { templateOf, withTemplate } from './workload.ts';

/** Workloads as the original operator, written in Go, leaves them: instrumented, and without a record of what was there. */

const tracing = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: true };
const active = {
  state: 'active',
  lumigo: 'lumigo',
  tracing,
  createdAt: '',
  injectExisting: true,
  remove: true,
} as const;
const label = 'lumigo-operator.v1.29.0';

/** Its first releases wrote three variables, the later ones four more. */
const firstVariables: readonly EnvVar[] = [
  { name: 'LD_PRELOAD', value: '/opt/lumigo/injector/lumigo_injector.so' },
  {
    name: 'LUMIGO_TRACER_TOKEN',
    valueFrom: { secretKeyRef: { name: 'lumigo-credentials', key: 'token', optional: true } },
  },
  { name: 'LUMIGO_ENDPOINT', value: 'http://old-proxy.lumigo-system.svc.cluster.local/v1/traces' },
];
const laterVariables = (container: string): readonly EnvVar[] => [
  ...firstVariables,
  { name: 'LUMIGO_LOGS_ENDPOINT', value: 'http://old-proxy.lumigo-system.svc.cluster.local/v1/logs' },
  { name: 'LUMIGO_ENABLE_LOGS', value: 'true' },
  { name: 'LUMIGO_ENABLE_TRACES', value: 'true' },
  { name: 'LUMIGO_CONTAINER_NAME', value: container },
];

const plain: PodTemplate = {
  metadata: { labels: { app: 'app' }, annotations: { note: 'x' } },
  spec: {
    initContainers: [{ name: 'migrate', image: 'migrate:1' }],
    containers: [
      { name: 'app', image: 'app:1', env: [{ name: 'OWN', value: '1' }] },
      { name: 'bare', image: 'bare:1' },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
    securityContext: { fsGroup: 3000 },
  },
};

function byTheOriginal(variables: (container: string) => readonly EnvVar[]): PodTemplate {
  const { initContainers = [], volumes = [], containers } = plain.spec;
  const own: Container = {
    name: 'lumigo-injector',
    image: 'public.ecr.aws/lumigo/lumigo-autotrace:latest',
    imagePullPolicy: 'Always',
    env: [{ name: 'TARGET_DIRECTORY', value: '/target' }],
    volumeMounts: [{ name: 'lumigo-injector', mountPath: '/target' }],
    resources: {},
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsUser: 3000,
      runAsGroup: 3000,
    },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  };
  return {
    metadata: { ...plain.metadata, labels: { app: 'app', [labels.autoTrace]: label } },
    spec: {
      ...plain.spec,
      initContainers: [...initContainers, own],
      containers: containers.map((container) => ({
        ...container,
        env: [...(container.env ?? []), ...variables(container.name)],
        volumeMounts: [{ name: 'lumigo-injector', mountPath: '/opt/lumigo', readOnly: true }],
      })),
      volumes: [...volumes, { name: 'lumigo-injector', emptyDir: { sizeLimit: '200M' } }],
    },
  };
}

const first = byTheOriginal(() => firstVariables);
const later = byTheOriginal(laterVariables);

const workload = (kind: WorkloadKind, template: PodTemplate): Workload => {
  const made = workloadOf(kind, 'shop', 'app', { labels: { [labels.autoTrace]: label } });
  return withTemplate(made as unknown as Workload, template);
};

const judge = (found: Workload, more: Partial<DecisionInput> = {}) =>
  decide({
    workload: found,
    operation: 'RECONCILE',
    policy: active,
    injector,
    now: '2026-06-01T00:00:00.000Z',
    by: 'controller',
    ...more,
  });

describe.each([
  ['first', first],
  ['later', later],
])('D6 D10 D17: what a %s release of the original operator wrote', (_release, template) => {
  it('is recognised, and comes out whole', () => {
    expect(isInjected(template)).toBe(true);
    expect(remove(template)).toEqual(plain);
    expect(remove(remove(template))).toEqual(plain);
  });

  it('comes out even where something was added to its init container since', () => {
    const initContainers = (template.spec.initContainers ?? []).map((each) => ({
      ...each,
      env: [...(each.env ?? []), { name: 'HTTP_PROXY', value: 'x' }],
    }));
    const [own] = remove({ ...template, spec: { ...template.spec, initContainers } }).spec.initContainers ?? [];
    expect(own).toMatchObject({ name: 'migrate' });
    expect(remove({ ...template, spec: { ...template.spec, initContainers } }).spec.initContainers).toHaveLength(1);
  });

  it('renewed is as if it were new', () => {
    expect(inject(template, { ...injector, ...tracing })).toEqual(inject(plain, { ...injector, ...tracing }));
  });

  it.each(everyKind.filter(([name]) => name !== 'Job'))(
    'in a %s is renewed when the user changes the pod',
    (_name, kind) => {
      const old = workload(kind, template);
      const containers = template.spec.containers.map((container) => ({ ...container, image: 'app:2' }));
      const changed = workload(kind, { ...template, spec: { ...template.spec, containers } });
      const decision = judge(changed, { operation: 'UPDATE', old, by: 'webhook' });
      expect(decision).toMatchObject({ action: 'inject', tried: 'update' });
      if (decision.action !== 'inject') return;
      expect(decision.workload.metadata.labels?.[labels.autoTrace]).toBe('lumigo-operator.v2.0.0');
      expect(templateOf(decision.workload)?.spec.initContainers?.[1]).toMatchObject({ image: 'autotrace:2' });
      expect(templateOf(decision.workload)?.metadata?.annotations).toHaveProperty([annotations.injection]);
    },
  );

  it.each(everyKind.filter(([name]) => name !== 'Job'))('in a %s is removed with its Lumigo', (_name, kind) => {
    const decision = judge(workload(kind, template), { policy: { state: 'deleting', lumigo: 'lumigo', remove: true } });
    expect(decision).toMatchObject({ action: 'remove' });
    if (decision.action !== 'remove') return;
    expect(templateOf(decision.workload)).toEqual(plain);
    expect(decision.workload.metadata.labels).toEqual({ app: 'app' });
  });
});

describe('D17: an upgrade from the original operator', () => {
  const found = workload(workloadKinds.deployment, later);

  it('restarts nothing', () => {
    const decision = judge(found);
    expect(decision).toMatchObject({ action: 'inject', tried: 'nothing', code: 'relabelled' });
    if (decision.action !== 'inject') return;
    expect(templateOf(decision.workload)).toBe(templateOf(found));
    expect(judge(decision.workload)).toMatchObject({ action: 'none', code: 'up-to-date' });
  });

  it('restarts what is told to be renewed', () => {
    expect(judge(found, { renew: true })).toMatchObject({ action: 'inject', tried: 'update' });
  });

  it('an update by the user that leaves the pod as it is leaves it as it is', () => {
    const scaled = { ...found, spec: { ...(found['spec'] as object), replicas: 5 } };
    const decision = judge(scaled, { operation: 'UPDATE', old: found, by: 'webhook' });
    if (decision.action === 'inject') expect(templateOf(decision.workload)).toBe(templateOf(scaled));
    expect(decision.tried).toBe('nothing');
  });
});
