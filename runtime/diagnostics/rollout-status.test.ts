import { describe, expect, it } from '@jest/globals';
import { injected, instrumented, made, withMetadata } from '../../sandbox/testing/injection.ts';
import { instrumentedByOriginal } from '../../sandbox/original/injected.ts';
import { labels, lumigo as contract, workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { assumedConfig } from '../installation/assumed.ts';
import { toTemplate, withTemplate } from '../injection/workload.ts';
import { renderStatus, statusOfNamespace } from './rollout-status.ts';

const original = (type: string) => ({ type, status: 'True', message: 'm', lastTransitionTime: 't' });
const condition = (type: string) => ({ ...original(type), reason: 'r' });

type Strategy = Parameters<typeof statusOfNamespace>[0]['config']['rolloutStrategy'];

const statusOf = (lumigo: LumigoResource | undefined, ...found: readonly Workload[]) =>
  statusWith('progressive', lumigo, ...found);

const statusWith = (rolloutStrategy: Strategy, lumigo: LumigoResource | undefined, ...found: readonly Workload[]) =>
  statusOfNamespace({
    namespace: 'shop',
    lumigoes: lumigo === undefined ? [] : [lumigo],
    config: { ...assumedConfig, rolloutStrategy },
    workloads: found.map((workload) => ({ kind: workloadKinds.deployment, workload })),
  });

const complete = { readyReplicas: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
const failing = { ...complete, availableReplicas: 0 };
const stuck = { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] };
const withPod = (workload: Workload, status: object, spec = {}): Workload => ({
  ...workload,
  spec: { ...(workload['spec'] as object), replicas: 1, ...spec },
  status,
});

const lumigoWith = (status: object, generation = 1) => {
  const metadata = { name: 'lumigo', namespace: 'shop', uid: 'u', generation };
  const spec = { lumigoToken: { secretRef: { name: 's', key: 'k' } } };
  return { metadata, spec, status } as unknown as LumigoResource;
};

describe('the status of a namespace', () => {
  it('is complete without a Lumigo resource', () => {
    expect(statusOf(undefined).isComplete).toBe(true);
  });

  it.each([
    ['is not complete while an opt-in is queued', 'progressive', {}, complete, false],
    ['is complete although an opt-in is paused', 'progressive', { paused: true }, {}, true],
    ['is complete although the rollout of an opt-in is stuck', 'progressive', {}, stuck, true],
    ['is complete although a pod of an opt-in is missing', 'progressive', {}, failing, true],
    ['is complete although an opt-in waits for a change', 'on-next-change', {}, complete, true],
    ['is complete although an opt-in waits for an approval', 'manual', {}, complete, true],
  ] as const)('%s, without a Lumigo', (_title, strategy, spec, status, isComplete) => {
    const optIn = withMetadata(made(), { labels: { [labels.autoTrace]: 'true' } });
    const found = statusWith(strategy, undefined, withPod(optIn, status, spec));
    expect(found).toMatchObject({ isComplete, workloads: [{ state: 'waiting' }] });
  });

  it('is not complete while a Lumigo is deleted, whose injections are still to be removed', () => {
    const lumigo = lumigoWith({ observedGeneration: 2, conditions: [condition('Active'), condition('RolledOut')] }, 2);
    const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [contract.finalizer] };
    const left = { ...lumigo, metadata: { ...lumigo.metadata, ...leaving } };
    const { policy, isComplete } = statusOf(left, withPod(instrumented(), complete));
    expect({ policy, isComplete }).toEqual({ policy: "the Lumigo 'lumigo' is being deleted", isComplete: false });
  });

  it('says why a queued workload is not changed, which only the condition Active says', () => {
    const failed = '1 workload could not be changed and will be retried';
    const problem = 'The problem of Deployment/app: denied the request: \n\nby a policy';
    const active = { ...condition('Active'), message: `Lumigo is ready. ${failed}. ${problem}` };
    const progressing = { ...condition('RolledOut'), status: 'False', reason: 'Progressing' };
    const lumigo = lumigoWith({ observedGeneration: 1, conditions: [active, progressing] });
    const text = renderStatus(statusOf(lumigo, made()), (_, each) => each);
    expect(text).toMatch(/^.* is active\. 1 workload could not be changed and will be retried\. .*: {3}by a policy\n/);
  });

  it('is complete without a Lumigo resource that only other controllers still keep', () => {
    const lumigo = lumigoWith({ observedGeneration: 1 }, 2);
    const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['other.example/keep'] };
    const { policy, isComplete } = statusOf({ ...lumigo, metadata: { ...lumigo.metadata, ...leaving } });
    expect({ policy, isComplete }).toEqual({ policy: expect.stringMatching(/^no Lumigo/), isComplete: true });
  });

  it('has no conditions in an excluded namespace', () => {
    const lumigo = lumigoWith({ conditions: [condition('Active')], observedGeneration: 1 });
    const config = { ...assumedConfig, excludedNamespaces: ['shop'] };
    const { policy, conditions } = statusOfNamespace({ namespace: 'shop', config, lumigoes: [lumigo], workloads: [] });
    expect({ policy, conditions }).toEqual({ policy: 'it is never instrumented', conditions: [] });
  });

  it('is complete, and shows a workload as instrumented, under the original operator', () => {
    const found = statusOf(lumigoWith({ conditions: [original('Active')] }), instrumentedByOriginal(made()));
    expect(found.workloads).toMatchObject([{ state: 'instrumented', details: 'by the original operator' }]);
    expect(found.isComplete).toBe(true);
  });

  it('names an error of the original operator, which writes no reasons', () => {
    const inactive = { ...original('Active'), status: 'False', message: "see the 'Error' condition" };
    const lumigo = lumigoWith({ conditions: [inactive, { ...original('Error'), message: 'no key' }] });
    const text = renderStatus(statusOf(lumigo, made()), (_, each) => each);
    expect(text).toContain("Namespace shop: the Lumigo 'lumigo' is not active (no key)");
  });

  it('shows a condition in one line, whatever name of a key it quotes', () => {
    const refused = { ...condition('TokenAccepted'), status: 'False', message: "no key 'a\nReady: True'" };
    const conditions = [condition('Active'), refused];
    const text = renderStatus(statusOf(lumigoWith({ conditions })), (_, each) => each);
    expect(text).toMatch(/^.*\nTokenAccepted: r\. no key 'a Ready: True'\nThere are no workloads\n/);
  });

  it('says why a Lumigo is not ready although its injection is switched off', () => {
    const missing = { status: 'False', reason: 'SecretNotFound', message: 'no Secret' };
    const lumigo = lumigoWith({ conditions: ['Ready', 'Active'].map((type) => ({ ...condition(type), ...missing })) });
    const status = statusOf({ ...lumigo, spec: { ...lumigo.spec, tracing: { injection: { enabled: false } } } });
    const text = renderStatus(status, (_, each) => each);
    expect(text).toMatch(/^.* has injection switched off\nReady: SecretNotFound\. no Secret\nThere are no workloads\n/);
  });

  it('shows a workload as instrumented whose record another writer has removed', () => {
    const template = injected(toTemplate(made()) as PodTemplate) as PodTemplate;
    const found = statusOf(lumigoWith({ conditions: [condition('Active')] }), withTemplate(made(), template));
    expect(found.workloads).toMatchObject([{ state: 'instrumented', details: 'has no record' }]);
  });

  it.each([
    ['as RollingOut', 'rolling out', { state: 'RollingOut' }],
    ['as Verified', 'verified', { state: 'Verified' }],
    ['without a state', 'instrumented', {}],
    ['not at all', 'instrumented', { uid: 'other' }],
  ])('shows an injected workload with a failing pod, listed %s, as %s', (_case, state, entry) => {
    const workload = withPod(withMetadata(instrumented(), { uid: 'w' }), failing);
    const instrumentedResources = [{ uid: 'w', ...entry }];
    const lumigo = lumigoWith({ observedGeneration: 1, conditions: [condition('Active')], instrumentedResources });
    const isComplete = state !== 'rolling out';
    expect(statusOf(lumigo, workload)).toMatchObject({ isComplete, workloads: [{ state }] });
  });

  it.each([
    ['not available yet', 'rolling out', 1, 'True', 'ReplicaSetUpdated'],
    ['not available in time', 'instrumented', 1, 'False', 'ProgressDeadlineExceeded'],
    ['no longer available', 'instrumented', 1, 'True', 'NewReplicaSetAvailable'],
    ['being replaced', 'rolling out', 0, 'True', 'ReplicaSetUpdated'],
    ['not replaced in time', 'instrumented', 0, 'False', 'ProgressDeadlineExceeded'],
  ])('shows an injected Deployment whose pod is %s as %s', (_case, state, updatedReplicas, status, reason) => {
    const conditions = [{ type: 'Progressing', status, reason }];
    const workload = withPod(instrumented(), { ...failing, updatedReplicas, conditions });
    const isComplete = state !== 'rolling out';
    expect(statusOf(undefined, workload)).toMatchObject({ isComplete, workloads: [{ state }] });
  });

  it.each([
    ['is not complete with a new resource', 1, undefined, [], false],
    ['is not complete with an earlier generation', 2, 1, ['Ready'], false],
    ['is not complete while the resource is reconciled', 1, 1, ['Reconciling'], false],
    ['is complete with a reconciled resource', 1, 1, ['Ready'], true],
  ] as const)('%s', (_name, generation, observedGeneration, types, expected) => {
    const lumigo = lumigoWith({ observedGeneration, conditions: types.map(condition) }, generation);
    expect(statusOf(lumigo).isComplete).toBe(expected);
  });

  it.each([
    ['is not complete while a workload is in the middle of its own rollout', 'progressive', {}, {}, false],
    ['is complete although a rollout is stuck', 'progressive', {}, stuck, true],
    ['is complete although a workload is paused', 'progressive', { paused: true }, {}, true],
    ['is complete although a pod is missing', 'progressive', {}, failing, true],
    ['is complete although a workload waits for a change', 'on-next-change', {}, {}, true],
  ] as const)('%s, for which the operator waits', (_name, strategy, spec, status, expected) => {
    const blocked = { ...condition('RolledOut'), status: 'False', reason: 'Blocked' };
    const lumigo = lumigoWith({ observedGeneration: 1, conditions: [condition('Active'), blocked] });
    const found = statusWith(strategy, lumigo, withPod(made(), status, spec));
    expect(found).toMatchObject({ isComplete: expected, workloads: [{ state: 'waiting' }] });
  });
});
