import { describe, expect, it } from '@jest/globals';
import { activePolicy, injector, older } from '../../sandbox/testing/injection.ts';
import { annotations, labels, workloadKinds, workloads } from '../contract.ts';
import { workloadOf, type WorkloadOptions } from '../../sandbox/testing/workloads.ts';
import { decide, type DecisionInput } from './decide.ts';
import { inject } from './inject.ts';
import { isInjected, remove } from './remove.ts';
import { policyOf } from './policy.ts';
import { parseStamp } from './stamp.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { InjectorSettings, NamespacePolicy } from './types.ts';
import { templateOf, withTemplate } from './workload.ts';

const tracing = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false };
const active = activePolicy(tracing);
const now = '2026-06-01T00:00:00.000Z';
const early = '2026-02-01T00:00:00.000Z';
const { deployment } = workloadKinds;
const { job } = workloadKinds;

const make = (kind: (typeof workloads)[number] = deployment, options: WorkloadOptions = {}): Workload =>
  workloadOf(kind, 'shop', 'app', options) as unknown as Workload;

const judge = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decide({ workload, operation: 'CREATE', policy: active, injector, now, by: 'webhook', ...more });

/** As it is once this operator, or an older one, has instrumented it. */
function instrumented(workload: Workload, by: InjectorSettings = injector): Workload {
  const decision = judge(workload, { injector: by, now: early });
  if (decision.action !== 'inject') throw new Error(decision.message);
  return decision.workload;
}

const change = (workload: Workload, metadata: object): Workload => ({
  ...workload,
  metadata: { ...workload.metadata, ...metadata },
});

const withImage = (workload: Workload, image: string): Workload => {
  const template = templateOf(workload);
  if (template === undefined) throw new Error('no template');
  const containers = template.spec.containers.map((container) => ({ ...container, image }));
  return withTemplate(workload, { ...template, spec: { ...template.spec, containers } });
};

const stampOf = (workload: Workload) => parseStamp(workload.metadata.annotations?.[annotations.instrumentation]);
const labelled = (value: string) => ({ labels: { [labels.autoTrace]: value } });
const owned = (kind: string, apiVersion = 'apps/v1') => ({
  ownerReferences: [{ apiVersion, kind, name: 'owner', controller: true }],
});

describe('what is decided', () => {
  it.each(workloads.map((kind) => [kind.kind, kind] as const))(
    'D1: a new %s is injected, and says so',
    (_name, kind) => {
      const decision = judge(make(kind));
      expect(decision).toMatchObject({ action: 'inject', tried: 'add', code: 'injected', leftAlone: [] });
      if (decision.action !== 'inject') return;
      expect(decision.workload.metadata.labels?.[labels.autoTrace]).toBe('lumigo-operator.v2.0.0');
      expect(stampOf(decision.workload)).toEqual({ change: 'added', at: now, by: 'webhook', tracing });
    },
  );

  const optOutMessage = "the resource has the 'lumigo.auto-trace' label set to 'false'; resource will not be mutated";
  const noLumigo = "No Lumigo configuration for the 'shop' namespace; resource will not be mutated";
  const inactive: NamespacePolicy = { state: 'inactive', lumigo: 'l', reason: 'SecretNotFound' };
  const disabled: NamespacePolicy = { state: 'disabled', lumigo: 'l', remove: true };
  const deleting: NamespacePolicy = { state: 'deleting', lumigo: 'l', remove: true };

  it.each<readonly [string, Workload, Partial<DecisionInput>, string, RegExp | string]>([
    ['a deletion', make(), { operation: 'DELETE' }, 'deleted', /The request deletes/],
    ['another kind', { ...make(), kind: 'Pod', apiVersion: 'v1' }, {}, 'other-kind', /v1 Pod/],
    ['D3: the update of a Job', make(job), { operation: 'UPDATE' }, 'job-update', /cannot change/],
    ['D3: what is being deleted', change(make(), { deletionTimestamp: now }), {}, 'deleting', /being deleted/],
    ['an opted-out workload', make(deployment, labelled('false')), {}, 'opted-out', optOutMessage],
    ['D19: in any case', make(deployment, labelled('FALSE')), {}, 'opted-out', optOutMessage],
    [
      'D19: on the pod template',
      make(deployment, { podLabels: { [labels.autoTrace]: 'false' } }),
      {},
      'opted-out',
      optOutMessage,
    ],
    [
      'D18: a ReplicaSet of a Deployment',
      change(make(workloadKinds.replicaSet), owned('Deployment')),
      {},
      'left-to-owner',
      /the Deployment 'owner'/,
    ],
    ['a Job of a CronJob', change(make(job), owned('CronJob', 'batch/v1')), {}, 'left-to-owner', /the CronJob 'owner'/],
    ['D5: a Windows pod', make(deployment, { pod: { os: { name: 'windows' } } }), {}, 'windows', /Windows/],
    [
      'D5: a Windows node',
      make(deployment, { pod: { nodeSelector: { 'kubernetes.io/os': 'windows' } } }),
      {},
      'windows',
      /Windows/,
    ],
    ['no Lumigo', make(), { policy: { state: 'none' } }, 'no-lumigo', noLumigo],
    [
      'no Lumigo, another label',
      make(deployment, labelled('yes')),
      { policy: { state: 'none' } },
      'no-lumigo',
      noLumigo,
    ],
    ['injection switched off', make(), { policy: disabled }, 'disabled', /disabled in the 'shop' namespace/],
    ['an inactive Lumigo', make(), { policy: inactive }, 'inactive', /not active \(SecretNotFound\)/],
    ['a Lumigo being deleted', make(), { policy: deleting }, 'lumigo-deleting', /being deleted/],
  ])('%s is left alone', (_case, workload, more, code, message) => {
    const decision = judge(workload, more);
    expect(decision).toMatchObject({ action: 'none', code });
    expect(decision.message).toMatch(message);
  });

  it('a Job of something else is injected like any other', () => {
    expect(judge(change(make(job), owned('Workflow')))).toMatchObject({ action: 'inject' });
  });

  it('D50: an object that makes no sense is left alone', () => {
    for (const spec of [undefined, {}, { template: {} }, { template: { spec: { containers: 'none' } } }])
      expect(judge({ ...make(), spec })).toMatchObject({ action: 'none', code: 'no-template' });
  });
});

describe('opting out and in', () => {
  it('D19: an injection goes when the workload is opted out, and the label stays', () => {
    const clean = make();
    const before = instrumented(clean);
    const workload = change(before, { labels: { ...before.metadata.labels, [labels.autoTrace]: 'false' } });
    for (const operation of ['UPDATE', 'RECONCILE'] as const) {
      const decision = judge(workload, { operation, old: before });
      expect(decision).toMatchObject({ action: 'remove', code: 'removed' });
      if (decision.action !== 'remove') return;
      expect(templateOf(decision.workload)).toEqual(templateOf(clean));
      expect(decision.workload.metadata.labels).toEqual({ app: 'app', [labels.autoTrace]: 'false' });
      expect(decision.workload.metadata.annotations).toBeUndefined();
    }
  });

  it('one workload opts in by its labels where there is no Lumigo', () => {
    const own = {
      [labels.autoTrace]: 'True',
      [labels.tokenSecret]: 'mine',
      [labels.tokenKey]: 'k',
      [labels.enableTraces]: 'false',
      [labels.enableLogs]: 'true',
    };
    const decision = judge(make(deployment, { labels: own }), { policy: { state: 'none' } });
    expect(decision).toMatchObject({ action: 'inject', code: 'opted-in' });
    if (decision.action !== 'inject') return;
    expect(stampOf(decision.workload)).toMatchObject({
      tracing: { secretName: 'mine', secretKey: 'k', traces: false, logs: true },
      userLabel: 'True',
    });
    // It stays opted in although the label says something else now.
    expect(judge(decision.workload, { policy: { state: 'none' }, operation: 'RECONCILE' })).toMatchObject({
      code: 'up-to-date',
    });
  });

  it('a Lumigo speaks louder than the labels, and when it goes they count again', () => {
    const workload = make(deployment, { labels: { [labels.autoTrace]: 'true', [labels.tokenSecret]: 'mine' } });
    const under = instrumented(workload);
    expect(stampOf(under)?.tracing.secretName).toBe('lumigo-credentials');
    const decision = judge(under, {
      operation: 'RECONCILE',
      policy: { state: 'deleting', lumigo: 'l', remove: true },
      by: 'controller',
    });
    expect(decision).toMatchObject({ action: 'inject', code: 'opted-in', tried: 'update' });
    if (decision.action === 'inject') expect(stampOf(decision.workload)?.tracing.secretName).toBe('mine');
  });
});

describe('D17: no surprise rollouts', () => {
  const old = instrumented(make(), older);

  it('an older injection stays on an update of something else, and in reconciliation', () => {
    const annotated = change(old, { annotations: { ...old.metadata.annotations, note: 'x' } });
    expect(judge(annotated, { operation: 'UPDATE', old })).toMatchObject({ action: 'none', code: 'up-to-date' });
    expect(judge(old, { operation: 'RECONCILE', by: 'controller' })).toMatchObject({
      action: 'none',
      code: 'up-to-date',
    });
  });

  it('it is renewed when the user changes the pod template', () => {
    const decision = judge(withImage(old, 'app:2'), { operation: 'UPDATE', old });
    expect(decision).toMatchObject({ action: 'inject', tried: 'update' });
    if (decision.action !== 'inject') return;
    expect(decision.workload.metadata.labels?.[labels.autoTrace]).toBe('lumigo-operator.v2.0.0');
    expect(templateOf(decision.workload)?.spec.initContainers?.[0]).toMatchObject({ image: 'autotrace:2' });
  });

  it('it is renewed where the settings ask for it', () => {
    expect(judge(old, { operation: 'RECONCILE', renew: true })).toMatchObject({ action: 'inject', tried: 'update' });
    const current = instrumented(make());
    expect(judge(current, { operation: 'RECONCILE', renew: true })).toMatchObject({
      action: 'none',
      code: 'up-to-date',
    });
  });

  it('D24: a change of the template that leaves the injection as it was keeps its stamp, so that nothing is told twice', () => {
    const current = instrumented(make());
    const decision = judge(withImage(current, 'app:2'), { operation: 'UPDATE', old: current });
    if (decision.action === 'inject') expect(decision.tried).toBe('nothing');
    const after = decision.action === 'none' ? current : decision.workload;
    expect(stampOf(after)?.at).toBe(early);
  });

  it('a label of ours that was overwritten comes back without a change of the template', () => {
    const current = instrumented(make());
    const workload = change(current, { labels: { app: 'app', [labels.autoTrace]: 'true' } });
    const decision = judge(workload, { operation: 'UPDATE', old: current });
    expect(decision).toMatchObject({ action: 'inject', tried: 'nothing', code: 'relabelled' });
    if (decision.action !== 'inject') return;
    expect(templateOf(decision.workload)).toBe(templateOf(workload));
    expect(stampOf(decision.workload)).toMatchObject({ at: early, userLabel: 'true' });
  });
});

describe('reconciling', () => {
  const reconcile = (workload: Workload, policy: NamespacePolicy = active) =>
    judge(workload, { operation: 'RECONCILE', policy, by: 'controller' });

  it('D14: carries a changed Lumigo to its workloads', () => {
    const changed = { ...active, tracing: { ...tracing, secretName: 'other', logs: true } };
    expect(reconcile(instrumented(make()), changed)).toMatchObject({ action: 'inject', tried: 'update' });
  });

  it('D14: takes the injection out when it is switched off, unless the Lumigo wants it kept', () => {
    expect(reconcile(instrumented(make()), { state: 'disabled', lumigo: 'l', remove: true })).toMatchObject({
      action: 'remove',
    });
    expect(reconcile(instrumented(make()), { state: 'disabled', lumigo: 'l', remove: false })).toMatchObject({
      ...{ action: 'inject', tried: 'nothing', code: 'kept' },
    });
  });

  it('D10: mends and removes what others have damaged or added to', () => {
    const workload = instrumented(make());
    const template = templateOf(workload) as PodTemplate;
    const damaged = withTemplate(workload, { ...template, spec: { ...template.spec, volumes: [] } });
    expect(reconcile(damaged)).toMatchObject({ action: 'inject', tried: 'update' });
    const [own] = template.spec.initContainers ?? [];
    const meddled = {
      ...template,
      spec: {
        ...template.spec,
        initContainers: [{ ...own, name: 'lumigo-injector', env: [...(own?.env ?? []), { name: 'X', value: '1' }] }],
      },
    };
    expect(reconcile(withTemplate(workload, meddled))).toMatchObject({ action: 'none', code: 'up-to-date' });
    expect(remove(meddled)).toEqual(templateOf(make()));
  });

  it('leaves what is older than a Lumigo that says so', () => {
    const policy = { ...active, injectExisting: false };
    const born = (creationTimestamp: string) => change(make(), { creationTimestamp });
    expect(reconcile(born('2025-12-31T00:00:00Z'), policy)).toMatchObject({ action: 'none', code: 'existing-left' });
    expect(reconcile(born(active.createdAt), policy)).toMatchObject({ action: 'none', code: 'existing-left' });
    expect(reconcile(born('2026-01-02T00:00:00Z'), policy)).toMatchObject({ action: 'inject' });
  });

  it('tells of a Job that it cannot change, as long as the Job is not finished', () => {
    expect(reconcile(make(job))).toMatchObject({ action: 'none', code: 'job-immutable', tried: 'add' });
    expect(reconcile({ ...make(job), status: { completionTime: now } })).toMatchObject({ code: 'job-finished' });
    expect(reconcile({ ...make(job), status: { conditions: [{ type: 'Failed', status: 'True' }] } })).toMatchObject({
      code: 'job-finished',
    });
    const deleting: NamespacePolicy = { state: 'deleting', lumigo: 'l', remove: true };
    expect(reconcile(instrumented(make(job)), deleting)).toMatchObject({
      action: 'none',
      code: 'job-immutable-removal',
      tried: 'remove',
    });
  });
});

describe('pods that cannot be injected into', () => {
  const volumeMounts = [{ name: 'v', mountPath: '/opt/lumigo/config' }];
  const storage = { limits: { 'ephemeral-storage': '100M' } };

  it.each<readonly [string, WorkloadOptions, RegExp]>([
    [
      'D6: LD_PRELOAD from elsewhere',
      { env: [{ name: 'LD_PRELOAD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      /LD_PRELOAD uses valueFrom/,
    ],
    [
      'a mount below the injector',
      { pod: { containers: [{ name: 'app', image: 'a', volumeMounts }] } },
      /mounted at \/opt\/lumigo\/config/,
    ],
    [
      'a volume of the same name',
      { pod: { volumes: [{ name: 'lumigo-injector', emptyDir: {} }] } },
      /already has a volume named 'lumigo-injector'/,
    ],
    [
      'a container of the same name',
      { pod: { initContainers: [{ name: 'lumigo-injector', image: 'a' }] } },
      /already has a container named/,
    ],
    [
      'no room on the disk',
      { pod: { containers: [{ name: 'app', image: 'a', resources: storage }] } },
      /ephemeral-storage limits \(100M in total\)/,
    ],
  ])('%s: says why', (_case, options, message) => {
    const decision = judge(make(deployment, options));
    expect(decision).toMatchObject({ action: 'none', code: 'refused', tried: 'add' });
    expect(decision.message).toMatch(message);
  });

  it('one container that is left alone does not keep the others from it', () => {
    const containers = [
      { name: 'app', image: 'a' },
      {
        name: 'odd',
        image: 'b',
        env: [{ name: 'LD_PRELOAD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      },
    ];
    const decision = judge(make(deployment, { pod: { containers } }));
    expect(decision).toMatchObject({ action: 'inject', leftAlone: [expect.stringContaining("container 'odd'")] });
    if (decision.action === 'inject') expect(templateOf(decision.workload)?.spec.containers[1]).toEqual(containers[1]);
  });
});

describe('F55: a ReplicaSet whose owner is no workload that anybody instruments', () => {
  it.each([
    ['Rollout', 'example.com/v1'],
    ['Deployment', 'example.com/v1'],
  ])('is instrumented itself: %s of %s', (kind, apiVersion) => {
    expect(judge(change(make(workloadKinds.replicaSet), owned(kind, apiVersion)))).toMatchObject({ action: 'inject' });
  });

  it('follows its owner where that is: an Argo Rollout is instrumented itself', () => {
    const left = { action: 'none', code: 'left-to-owner' };
    expect(judge(change(make(workloadKinds.replicaSet), owned('Rollout', 'argoproj.io/v1alpha1')))).toMatchObject(left);
  });
});

describe('an injection of the original operator', () => {
  const original: PodTemplate = {
    metadata: { labels: { app: 'app', [labels.autoTrace]: 'lumigo-operator.v69' } },
    spec: {
      containers: [
        {
          name: 'app',
          image: 'app:1',
          env: [
            { name: 'OWN', value: '1' },
            { name: 'LD_PRELOAD', value: '/opt/lumigo/injector/lumigo_injector.so' },
            {
              name: 'LUMIGO_TRACER_TOKEN',
              valueFrom: { secretKeyRef: { name: 'lumigo-credentials', key: 'token', optional: true } },
            },
            { name: 'LUMIGO_ENDPOINT', value: 'http://old-proxy/v1/traces' },
          ],
          volumeMounts: [{ name: 'lumigo-injector', mountPath: '/opt/lumigo', readOnly: true }],
        },
      ],
      initContainers: [
        {
          name: 'lumigo-injector',
          image: 'public.ecr.aws/lumigo/lumigo-autotrace:v69',
          env: [{ name: 'TARGET_DIRECTORY', value: '/target' }],
          volumeMounts: [{ name: 'lumigo-injector', mountPath: '/target' }],
          securityContext: { runAsUser: 1234, runAsGroup: 1234 },
        },
      ],
      volumes: [{ name: 'lumigo-injector', emptyDir: { sizeLimit: '200M' } }],
    },
  };
  const clean: PodTemplate = {
    metadata: { labels: { app: 'app' } },
    spec: { containers: [{ name: 'app', image: 'app:1', env: [{ name: 'OWN', value: '1' }] }] },
  };

  it('is recognised, taken out whole, and renewed as if it were new', () => {
    expect(isInjected(original)).toBe(true);
    expect(remove(original)).toEqual(clean);
    expect(inject(original, { ...injector, ...tracing })).toEqual(inject(clean, { ...injector, ...tracing }));
  });
});

describe('D16: the Lumigo that acts', () => {
  const lumigo = (name: string, creationTimestamp: string, more: object = {}): LumigoResource => ({
    apiVersion: 'operator.lumigo.io/v1alpha1',
    kind: 'Lumigo',
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, creationTimestamp, ...more },
    spec: { lumigoToken: { secretRef: { name: 's', key: 'k' } } },
    status: { conditions: [{ type: 'Active', status: 'True', reason: 'Ready', message: '', lastTransitionTime: now }] },
  });

  it('is the oldest, then the one with the smaller uid, whatever the order in which they come', () => {
    const all = [
      lumigo('c', '2026-01-02T00:00:00Z'),
      lumigo('b', '2026-01-01T00:00:00Z'),
      lumigo('a', '2026-01-01T00:00:00Z'),
    ];
    for (const order of [all, all.toReversed()])
      expect(policyOf(order)).toMatchObject({ state: 'active', lumigo: 'a' });
  });

  it('is not one that is being deleted while another is there', () => {
    const going = lumigo('a', '2026-01-01T00:00:00Z', { deletionTimestamp: now });
    expect(policyOf([going, lumigo('b', '2026-01-02T00:00:00Z')])).toMatchObject({ state: 'active', lumigo: 'b' });
    expect(policyOf([going])).toEqual({ state: 'deleting', lumigo: 'a', remove: true });
    expect(policyOf([])).toEqual({ state: 'none' });
  });
});
