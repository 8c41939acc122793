import { describe, expect, it } from '@jest/globals';
import {
  active,
  changed,
  decided,
  injector,
  instrumented as byNew,
  made,
  older,
  podsPolicy,
  tracing,
  withContainers,
  withMetadata,
} from '../../sandbox/testing/injection.ts';
import { instrumentedByOriginal } from '../../sandbox/original/injected.ts';
import type { WorkloadOptions } from '../../sandbox/testing/workloads.ts';
import { annotations, labels, workloadKinds, type WorkloadKind } from '../contract.ts';
import type { DecisionInput } from './decision.ts';
import { workloadPatch } from './patch.ts';
import { hasInjection, uninstrument } from './remove.ts';
import { getInjectionStatus } from './injection-status.ts';
import type { InjectorSettings, NamespacePolicy } from './types.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

const now = '2026-06-01T00:00:00.000Z';
const early = '2026-02-01T00:00:00.000Z';
const { replicaSet, job, rollout } = workloadKinds;

const judge = (workload: Workload, more: Partial<DecisionInput> = {}) =>
  decided(workload, { operation: 'CREATE', by: 'webhook', ...more });
const instrumented = (workload = made(), by = injector) => byNew(workload, { injector: by, now: early });

const none: NamespacePolicy = { kind: 'none' };
const inactive: NamespacePolicy = { kind: 'inactive', lumigo: 'l', reason: 'SecretNotFound' };
const deleting: NamespacePolicy = { kind: 'deleting', lumigo: 'l', remove: true };

const labelled = (value: string) => ({ labels: { [labels.autoTrace]: value } });
const owned = (own: WorkloadKind, kind: string, apiVersion = 'apps/v1'): Workload => {
  const ownerReferences = [{ apiVersion, kind, name: 'owner', controller: true, uid: 'u' }];
  return withMetadata(made({}, own), { ownerReferences });
};

describe('the decision about a workload', () => {
  it('is an injection for a new one, with an event [D1]', () => {
    const decision = judge(made());
    expect(decision).toMatchObject({ kind: 'inject', tried: 'add', code: 'injected', skipped: [] });
    const { metadata } = changed(decision);
    expect(metadata.labels?.[labels.autoTrace]).toBe('lumigo-operator.v2.0.0');
    expect(getInjectionStatus(metadata)).toEqual({ change: 'added', at: now, by: 'webhook', tracing });
  });

  const optOutMessage = "the resource has the 'lumigo.auto-trace' label set to 'false'; resource will not be mutated";
  const noLumigo = "No Lumigo configuration for the 'shop' namespace; resource will not be mutated";
  const argo = owned(replicaSet, 'Rollout', 'argoproj.io/v1alpha1');
  const other = owned(replicaSet, 'Rollout', 'example.com/v1');
  const leaving = withMetadata(made(), { deletionTimestamp: now });
  const windows = { pod: { os: { name: 'windows' } } };
  const s390x = { pod: { nodeSelector: { 'kubernetes.io/arch': 's390x' } } };

  it.each<readonly [string, Workload, Partial<DecisionInput>, string, RegExp | string]>([
    ['another kind', { ...made(), kind: 'Pod', apiVersion: 'v1' }, {}, 'other-kind', /v1 Pod/],
    ['D3: the update of a Job', made({}, job), { operation: 'UPDATE' }, 'job-update', /cannot change/],
    ['D3: a change while it is being deleted', leaving, { operation: 'UPDATE', old: byNew() }, 'deleting', /deleted/],
    ['D19: an opted-out workload', made(labelled('false')), {}, 'opted-out', optOutMessage],
    ['D18: a ReplicaSet of a Deployment', owned(replicaSet, 'Deployment'), {}, 'left-to-owner', /Deployment 'owner'/],
    ['a Job of a CronJob', owned(job, 'CronJob', 'batch/v1'), {}, 'left-to-owner', /the CronJob 'owner'/],
    ['F55: a ReplicaSet of an Argo Rollout', argo, {}, 'left-to-owner', /the Rollout 'owner'/],
    ['a ReplicaSet of an unknown controller', other, {}, 'left-to-owner', /the Rollout 'owner'/],
    ['D5: a Windows pod', made(windows), {}, 'windows', /Windows/],
    ['a pod of another architecture', made(s390x), {}, 'architecture', /another architecture/],
    ['what is in Pod mode', made(), { policy: podsPolicy(tracing) }, 'pod-mode', /injects pods/],
    ['no Lumigo, another label', made(labelled('yes')), { policy: none }, 'no-lumigo', noLumigo],
    ['an inactive Lumigo', made(), { policy: inactive }, 'inactive', /not active \(SecretNotFound\)/],
  ])('%s is skipped', (_case, workload, more, code, message) => {
    const decision = judge(workload, more);
    expect(decision).toMatchObject({ kind: 'none', code, tried: 'nothing' });
    expect(decision.message).toMatch(message);
  });

  it('a Job of something else is injected like any other', () => {
    expect(judge(owned(job, 'Workflow'))).toMatchObject({ kind: 'inject' });
  });

  it('skips a malformed object, also one of any depth [D50]', () => {
    let deep: object = {};
    for (let depth = 0; depth < 100_000; depth += 1) deep = { deep };
    const templates = [
      {},
      { spec: { containers: [{ name: 'app' }], deep } },
      { spec: { containers: 'none' } },
      { spec: { containers: [{ name: 'app' }], volumes: [null] } },
      { spec: { containers: [{ name: 'app', resources: { limits: 1 } }] } },
      { spec: { containers: [{ name: 'app', resources: { limits: { cpu: true } } }] } },
    ];
    for (const spec of [undefined, {}, ...templates.map((template) => ({ template }))])
      expect(judge({ ...made(), spec })).toMatchObject({ kind: 'none', code: 'no-template', tried: 'nothing' });
  });

  it('accepts amounts as an open definition stores them', () => {
    const resources = { limits: { cpu: 1, memory: null }, requests: null };
    expect(judge(made({ pod: { containers: [{ name: 'app', resources }] } }, rollout)).kind).toBe('inject');
  });

  it('ignores a forged record whose depth would end the process', () => {
    const deep = '['.repeat(15_000) + ']'.repeat(15_000);
    const kept = `"kept":{"app":{"env":[{"name":"LUMIGO_TRACER_TOKEN","valueFrom":{"x":${deep}}}]}}`;
    const { metadata, spec } = toTemplate(instrumented()) as PodTemplate;
    const record = metadata?.annotations?.[annotations.injection]?.replace('{', `{${kept},`) ?? '';
    const own = { ...metadata?.annotations, [annotations.injection]: record };
    const forged = withTemplate(made(), { metadata: { ...metadata, annotations: own }, spec });
    const clean = changed(decided(forged, { policy: deleting }));
    expect(JSON.stringify(workloadPatch(forged, clean))).not.toContain('[[');
    expect(hasInjection(clean)).toBe(false);
  });

  it('says why a container is skipped now, with the time of the last change', () => {
    const own = (b: object) => made({ pod: { containers: [{ name: 'app' }, { name: 'b', ...b }] } });
    const valueFrom = { configMapKeyRef: { name: 'c', key: 'k' } };
    const old = instrumented(own({ env: [{ name: 'LD_PRELOAD', valueFrom }] }));
    const nested = own({ volumeMounts: [{ name: 'v', mountPath: '/opt/lumigo/x' }] });
    const { metadata } = changed(judge(nested, { operation: 'UPDATE', old }));
    const skipped = expect.stringContaining("its volume 'v' is mounted at /opt/lumigo/x");
    expect(getInjectionStatus(metadata)).toMatchObject({ at: early, skipped });
  });

  it('is to keep the injection after an upgrade if a clean manifest with empty parts is sent again', () => {
    const empty = { volumes: [], initContainers: [], imagePullSecrets: [] };
    const pod = { ...empty, containers: [{ name: 'app', env: [], volumeMounts: [] }] };
    const metadata = { labels: {}, annotations: {} };
    const bare = made({ pod }, rollout);
    const sent = withTemplate(bare, { ...(toTemplate(bare) as PodTemplate), metadata });
    const old = instrumented(sent, older);
    const decision = judge(sent, { operation: 'UPDATE', old });
    expect(decision).toMatchObject({ tried: 'nothing', code: 'restored' });
    expect(changed(decision)).toEqual(old);
  });

  it.each([
    ['the whole object', () => made({}, rollout), false],
    [
      'the list of containers of a Rollout',
      (old: Workload) => withContainers(old, () => ({ env: [], volumeMounts: [] })),
      true,
    ],
  ])('is to keep the injection if %s is sent again while the Lumigo is not active', (_what, sent, remove) => {
    const old = byNew(made({}, rollout), { policy: { ...active, remove }, now: early });
    const update = { operation: 'UPDATE', old, policy: inactive } as const;
    const decision = judge(sent(old), update);
    expect(decision).toMatchObject({ tried: 'nothing', code: 'restored' });
    expect(changed(decision)).toEqual(old);
    const other = withContainers(sent(old), () => ({ image: 'app:2' }));
    expect(judge(other, update).code).toBe('inactive');
    const without = {
      ...sent(old),
      metadata: { ...old.metadata, annotations: { [annotations.excludeContainers]: 'app' } },
    };
    expect(judge(without, update).code).toBe('inactive');
  });

  it('is to keep no injection while the Lumigo is not active if the object would become invalid', () => {
    const old = instrumented();
    const full = withMetadata(made(), { annotations: { note: 'x'.repeat(256 * 1024 - 100) } });
    expect(judge(full, { operation: 'UPDATE', old, policy: inactive }).code).toBe('inactive');
  });

  it("is an injection that keeps a user's new mount of the injector's volume", () => {
    const sent = withContainers(made(), () => ({ volumeMounts: [{ name: 'lumigo-injector', mountPath: '/extra' }] }));
    const decision = judge(sent, { operation: 'UPDATE', old: instrumented() });
    expect(decision).toMatchObject({ kind: 'inject', code: 'injected' });
    expect(JSON.stringify(changed(decision))).toContain('/extra');
  });

  it('treats a copy of an instrumented workload as new', () => {
    const copy = withTemplate(made(), toTemplate(instrumented()) as PodTemplate);
    expect(judge(copy)).toMatchObject({ kind: 'inject', tried: 'add' });
  });
});

describe('opting out and in', () => {
  it('one workload opts in by its labels if there is no Lumigo', () => {
    const own = {
      [labels.autoTrace]: 'True',
      [labels.tokenSecret]: 'mine',
      [labels.tokenKey]: 'k',
      [labels.enableTraces]: 'false',
      [labels.enableLogs]: 'true',
    };
    const decision = judge(made({ labels: own }), { policy: none });
    expect(decision).toMatchObject({ kind: 'inject', code: 'opted-in' });
    expect(getInjectionStatus(changed(decision).metadata)).toMatchObject({
      tracing: { secretName: 'mine', secretKey: 'k', traces: false, logs: true },
      userLabel: 'True',
    });
    expect(decided(changed(decision), { policy: none })).toMatchObject({ code: 'up-to-date' });
  });

  it('empty labels of an opted-in workload select the defaults', () => {
    const own = { [labels.autoTrace]: 'true', [labels.tokenKey]: '', [labels.tokenSecret]: '' };
    const { metadata } = changed(judge(made({ labels: own }), { policy: none }));
    const defaults = { secretName: 'lumigo-credentials', secretKey: 'token' };
    expect(getInjectionStatus(metadata)?.tracing).toMatchObject(defaults);
  });

  it('a Lumigo takes precedence over the labels, which count again after its deletion', () => {
    const under = instrumented(made({ labels: { [labels.autoTrace]: 'true', [labels.tokenSecret]: 'mine' } }));
    expect(getInjectionStatus(under.metadata)?.tracing.secretName).toBe(tracing.secretName);
    const decision = decided(under, { policy: deleting });
    expect(decision).toMatchObject({ kind: 'inject', code: 'opted-in', tried: 'update' });
    expect(getInjectionStatus(changed(decision).metadata)?.tracing.secretName).toBe('mine');
  });

  it('labels of a workload do not count in a namespace that is excluded by now', () => {
    const policy: NamespacePolicy = { kind: 'deleting', lumigo: 'l', remove: true, isExcluded: true };
    const optedIn = made({ labels: { [labels.autoTrace]: 'true' } });
    expect(decided(optedIn, { policy }).kind).toBe('none');
    const removed = decided(instrumented(optedIn), { policy });
    expect(removed.kind).toBe('remove');
    expect(changed(removed).metadata.labels).toEqual(optedIn.metadata.labels);
  });
});

describe('no surprise rollouts [D17]', () => {
  it('a template change that keeps the injection keeps the injection status, so no event is repeated [D24]', () => {
    const current = instrumented();
    const workload = withContainers(current, () => ({ image: 'app:2' }));
    const decision = judge(workload, { operation: 'UPDATE', old: current });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing' });
    expect(getInjectionStatus(changed(decision).metadata)?.at).toBe(early);
  });

  it('an overwritten label is restored without a change of the template', () => {
    const current = instrumented();
    const workload = withMetadata(current, { labels: { app: 'app', [labels.autoTrace]: 'true' } });
    const decision = judge(workload, { operation: 'UPDATE', old: current });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'relabelled' });
    expect(toTemplate(changed(decision))).toBe(toTemplate(workload));
    expect(getInjectionStatus(changed(decision).metadata)).toMatchObject({ at: early, userLabel: 'true' });
  });
});

describe('reconciling', () => {
  it.each([
    ['2025-12-31T00:00:00Z', 'existing-left'],
    [active.createdAt, 'existing-left'],
    ['2026-01-02T00:00:00Z', 'injected'],
  ])('skips what is older than a Lumigo with that setting: of %s, %s', (creationTimestamp, code) => {
    const workload = withMetadata(made(), { creationTimestamp: creationTimestamp as never });
    const tried = code === 'injected' ? 'add' : 'nothing';
    expect(decided(workload, { policy: { ...active, injectExisting: false } })).toMatchObject({ code, tried });
  });

  it.each([
    ['nothing about a Job that has completed', 'Complete', 'job-finished', 'nothing'],
    ['nothing about a Job that has failed', 'Failed', 'job-finished', 'nothing'],
    ['that a suspended Job cannot change', 'Suspended', 'job-immutable', 'add'],
  ])('reports %s', (_what, type, code, tried) => {
    const status = { conditions: [{ type, status: 'True' }] };
    expect(decided({ ...made({}, job), status })).toMatchObject({ code, tried });
  });
});

const activeThat = (remove: boolean): NamespacePolicy => ({ ...active, remove });
const keeping = (remove: boolean, options: WorkloadOptions = {}) =>
  byNew(made(options), { policy: activeThat(remove) });

describe('the decision if an injection stays after its Lumigo is deleted', () => {
  it('is in its injection status from the start', () => {
    expect(getInjectionStatus(keeping(true).metadata)?.keep).toBeUndefined();
    expect(getInjectionStatus(keeping(false).metadata)?.keep).toBe(true);
    expect(keeping(false).metadata.annotations?.[annotations.instrumentation]).toMatch(/ logs=false keep$/);
  });

  it.each([true, false])(
    'changes with the Lumigo, in the metadata alone and without an event (remove: %s)',
    (remove) => {
      const before = keeping(!remove);
      const decision = decided(before, { policy: activeThat(remove) });
      expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'relabelled' });
      expect(toTemplate(changed(decision))).toBe(toTemplate(before));
      expect(changed(decision)).toEqual({ ...before, metadata: keeping(remove).metadata });
      expect(decided(changed(decision), { policy: activeThat(remove) }).code).toBe('up-to-date');
    },
  );

  it('is not stored without a label', () => {
    const policy: NamespacePolicy = { kind: 'disabled', lumigo: 'lumigo', remove: false };
    expect(decided(withMetadata(keeping(true), { labels: {} }), { policy })).toMatchObject({ kind: 'none' });
  });

  it.each(['deleting', 'disabled'] as const)('is stored for an injection of v69 while the Lumigo is %s', (state) => {
    const before = instrumentedByOriginal(made());
    const policy: NamespacePolicy = { kind: state, lumigo: 'lumigo', remove: false };
    const decision = decided(before, { policy });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'kept' });
    expect(toTemplate(changed(decision))).toBe(toTemplate(before));
    const own = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false };
    const status = { change: 'adopted', tracing: own, keep: true };
    expect(getInjectionStatus(changed(decision).metadata)).toMatchObject(status);
    expect(decided(changed(decision), { policy: none })).toMatchObject({ kind: 'none', code: 'no-lumigo' });
    // Each removal leaves Jobs as they are.
    expect(decided({ ...before, apiVersion: 'batch/v1', kind: 'Job' }, { policy })).toMatchObject({ kind: 'none' });
  });

  it.each(['deleting', 'disabled'] as const)('is stored once while the Lumigo is %s', (state) => {
    const before = keeping(true, { labels: { [labels.autoTrace]: 'x' } });
    const policy: NamespacePolicy = { kind: state, lumigo: 'lumigo', remove: false };
    const decision = decided(before, { policy });
    expect(decision).toMatchObject({ kind: 'inject', tried: 'nothing', code: 'kept' });
    expect(toTemplate(changed(decision))).toBe(toTemplate(before));
    const status = getInjectionStatus(before.metadata);
    expect(getInjectionStatus(changed(decision).metadata)).toEqual({ ...status, keep: true });
    expect(decided(changed(decision), { policy })).toMatchObject({ kind: 'none' });
    expect(decided(before, { policy, operation: 'UPDATE', old: before })).toMatchObject({ kind: 'none' });
  });
});

describe('an injection without a Lumigo', () => {
  it('is removed, with the reason', () => {
    const decision = decided(keeping(true), { policy: none });
    expect(decision).toMatchObject({ kind: 'remove' });
    expect(decision.message).toContain("There is no Lumigo resource in the 'shop' namespace any more");
    expect(changed(decision)).toEqual(made());
  });

  it.each<readonly [string, Workload, DecisionInput['operation']]>([
    ['its injection status says so', keeping(false), 'RECONCILE'],
    ['a user changes it, because only the reconciler removes it', keeping(true), 'UPDATE'],
    ['the original operator left no injection status', withMetadata(keeping(true), { annotations: {} }), 'RECONCILE'],
  ])('stays if %s', (_case, workload, operation) => {
    expect(decided(workload, { policy: none, operation })).toMatchObject({ kind: 'none', code: 'no-lumigo' });
  });

  it('stays while its workload opts in, and is removed afterwards', () => {
    const own = { labels: { [labels.autoTrace]: 'true' } };
    const asking = byNew(made(own), { policy: none });
    expect(decided(asking, { policy: none })).toMatchObject({ kind: 'none', code: 'up-to-date' });
    const ceased = withMetadata(asking, { labels: {} });
    expect(decided(ceased, { policy: none })).toMatchObject({ kind: 'remove' });
  });
});

describe("an injection that sends to another installation's telemetry proxy [F10]", () => {
  const moved: InjectorSettings = { ...injector, endpoint: 'http://elsewhere' };

  it('is not changed, and the decision names it', () => {
    const before = keeping(true);
    const elsewhere = 'http://proxy';
    expect(decided(before, { injector: moved })).toMatchObject({ code: 'up-to-date', elsewhere });
    const decision = decided(before, { injector: moved, policy: activeThat(false) });
    expect(decision).toMatchObject({ code: 'relabelled', tried: 'nothing', elsewhere });
    expect(judge(made(), { operation: 'UPDATE', old: before, injector: moved })).toMatchObject({
      code: 'restored',
      elsewhere,
    });
    expect(decided(before)).not.toHaveProperty('elsewhere');
    expect(decided(before, { injector: moved, renew: true })).not.toHaveProperty('elsewhere');
  });

  it('is recognized by its variables if there is no record', () => {
    const before = keeping(true);
    const text = JSON.stringify(before).replace(/"operator\.lumigo\.io\/injection":"(\\.|[^"\\])*",?/, '');
    expect(text).not.toContain('operator.lumigo.io/injection');
    expect(decided(JSON.parse(text) as Workload, { injector: moved })).toMatchObject({ elsewhere: 'http://proxy' });
  });
});

const under = (selector: LabelSelector) => ({ policy: { ...active, selector } });
const web = { matchLabels: { tier: 'web' } };
const selected = made({ labels: { tier: 'web' } });
const notSelected = { kind: 'none', tried: 'nothing', code: 'not-selected' };

describe('the selector of a Lumigo', () => {
  it.each(['CREATE', 'UPDATE', 'RECONCILE'] as const)('narrows the injection in a review of %s', (operation) => {
    expect(decided(selected, { ...under(web), operation }).kind).toBe('inject');
    expect(decided(made(), { ...under(web), operation })).toMatchObject(notSelected);
  });

  it('removes the injection from a workload that it no longer selects, exactly', () => {
    const injected = byNew(selected);
    const removed = decided(injected, under({ matchLabels: { tier: 'back' } }));
    expect(removed).toMatchObject({ kind: 'remove', tried: 'remove' });
    expect(changed(removed)).toEqual(selected);
    const relabelled = withMetadata(injected, { labels: { ...injected.metadata.labels, tier: 'back' } });
    expect(changed(decided(relabelled, under(web)))).toEqual(uninstrument(relabelled));
  });

  it("reads the user's own labels, so that the operator's label never moves a workload out or in", () => {
    const byLabel = under({ matchLabels: { [labels.autoTrace]: 'true' } });
    const injected = byNew(made({ labels: { [labels.autoTrace]: 'true' } }), byLabel);
    expect(decided(injected, byLabel).code).toBe('up-to-date');
    const unlabelled = under({ matchExpressions: [{ key: labels.autoTrace, operator: 'DoesNotExist' }] });
    expect(decided(byNew(made(), unlabelled), unlabelled).code).toBe('up-to-date');
  });

  it('does not win over an opt-out', () => {
    const out = made({ labels: { tier: 'web', [labels.autoTrace]: 'false' } });
    expect(decided(out, under(web)).code).toBe('opted-out');
  });
});
