import { describe, expect, it } from '@jest/globals';
import { changed, injected, injector, made, podsPolicy } from '../../sandbox/testing/injection.ts';
import { tracing, withMetadata, withPod } from '../../sandbox/testing/injection.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { annotations, workloadKinds } from '../contract.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { decidePod } from '../injection/decide-pod.ts';
import { none } from '../injection/decision.ts';
import { getOriginalState } from '../injection/original-state.ts';
import { remedies } from '../injection/remedies.ts';
import { withRevert } from '../injection/revert.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { toTemplate, withTemplate } from '../injection/workload.ts';
import { assumedConfig } from '../installation/assumed.ts';
import { noRollout } from '../reconciler/plan-rollout.ts';
import { rolloutCondition } from '../reconciler/conditions-rollout.ts';
import { explain, describeNext, describeNow, describePods, describeTelemetry } from './explain.ts';
import { findDelay, notesOn, skippedIn } from './explain.ts';
import { toStore } from './preview.ts';
import { decisionOn } from './verdict.ts';

const lumigoToken = { secretRef: { name: 'lumigo', key: 'token' } };

type Pods = Parameters<typeof describePods>[0];
const pods = (code: Pods[number]['code'], ...names: readonly string[]): Pods =>
  names.map((name) => ({ name, code, kind: code === 'injected' ? 'inject' : 'none' }));
const many = Array.from({ length: 13 }, (_, index) => `pod-${String(13 - index).padStart(2, '0')}`);
const restart = 'Restart the workload: its new pods are injected.';

describe('an explanation in Pod mode', () => {
  it.each<[string, Pods, object]>([
    [
      'names the pods without the injection, and says what to do',
      [...pods('injected', 'cart-c', 'cart-b'), ...pods('up-to-date', 'cart-a')],
      { now: '1 of 3 pods run with the injection. Without it: cart-b, cart-c', remedy: restart },
    ],
    [
      'has no remedy if all pods have the injection',
      pods('up-to-date', 'cart-a', 'cart-b'),
      { now: '2 of 2 pods run with the injection', remedy: undefined },
    ],
    [
      'names at most ten pods, in order',
      pods('injected', ...many),
      {
        now: `0 of 13 pods run with the injection. Without it: ${many.toReversed().slice(0, 10).join(', ')}, and 3 more`,
        remedy: restart,
      },
    ],
    [
      'has the remedy of the pods if a restart changes nothing',
      [...pods('up-to-date', 'cart-a'), ...pods('opted-out', 'cart-b')],
      { now: '1 of 2 pods run with the injection. Without it: cart-b', remedy: 'Remove the label.' },
    ],
    [
      'advises a restart if it helps one of them',
      [...pods('windows', 'a'), ...pods('injected', 'b')],
      { remedy: restart },
    ],
    ['has no remedy without pods', [], { now: '0 of 0 pods run with the injection', remedy: undefined }],
  ])('%s', (_title, found, expected) => expect(describePods(found)).toMatchObject(expected));
});

describe('an explanation of a pod', () => {
  const withSidecars = { ...injector, sidecars: ['istio-proxy'] };
  const policy = podsPolicy(tracing);
  const podOf = (...names: readonly string[]): Workload => {
    const containers = names.map((name) => ({ name, image: 'app:1', ...(name === 'bound' ? { env } : {}) }));
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'cart', namespace: 'shop' }, spec: { containers } };
  };
  const env = [{ name: 'LD_PRELOAD', valueFrom: { configMapKeyRef: { name: 'own', key: 'preload' } } }];
  /** The record of the API server has few of the operator's fields. */
  const running = (pod: Workload): Workload => {
    const after = changed(decidePod(pod, policy, withSidecars));
    const { endpoint, secretName, secretKey, traces, logs, skipped } = getOriginalState(after) ?? {};
    const record = JSON.stringify({ endpoint, secretName, secretKey, traces, logs, skipped });
    return withMetadata(after, { annotations: { [annotations.injection]: record } });
  };
  const mixed = podOf('web', 'bound', 'istio-proxy');
  const bound = "container 'bound' is skipped";
  const reason = `${bound}: its LD_PRELOAD uses valueFrom, so the operator cannot append the injector's`;
  const sidecar = "container 'istio-proxy' is skipped";

  it.each<[string, Workload, NamespacePolicy, readonly string[]]>([
    ['that is not injected yet', mixed, policy, [reason]],
    ['that is injected', running(mixed), policy, [sidecar, reason]],
    ['whose Lumigo is gone', running(mixed), { kind: 'none' }, [sidecar, bound]],
    ['whose containers are all injected', running(podOf('web')), policy, []],
  ])('%s names each container that has no injection', (_title, pod, under, expected) =>
    expect(skippedIn(pod, under, withSidecars)).toEqual(expected),
  );

  it('never says that an injected container is skipped', () => {
    const state = running(podOf('web'));
    const traced = withPod(state, ({ containers }) => ({ containers: containers.map((each) => ({ ...each, env })) }));
    expect(skippedIn(traced, policy, withSidecars)).toEqual([]);
  });
});

describe('an explanation of a workload', () => {
  it.each(['deployment.other.io/x', 'service/x', 'deployment/', 'deployment/x/y'])(
    'is refused for %s, which is not a workload',
    async (target) => {
      await expect(explain({ target } as never)).rejects.toThrow(`'${target}' is not a workload. Use KIND/NAME`);
    },
  );

  it.each([
    [undefined, /^the reconciler tries again later$/],
    ['Unhealthy', /^the reconciler tries again later$/],
    ['WaitsForChange', /^nothing for now: it is injected when its pod template changes \(setting/],
    ['WaitsForApproval', /^nothing for now: it is injected when its pod template changes or you set the annotation/],
  ])('says if another attempt follows a revert without a cause by the user (%s)', (blocked, expected) => {
    const decision = { kind: 'none', tried: 'nothing', code: 'reverted', message: 'm' };
    const verdict = { decision, patch: [], kind: workloadKinds.deployment, name: 'cart', blocked } as never;
    expect(describeNext(workloadKinds.deployment, verdict, findDelay(verdict, undefined))).toMatch(expected);
  });

  it.each([
    ['Paused', /^nothing for now: it is paused/],
    ['WaitsForApproval', /^nothing for now: it is injected when its pod template changes or/],
  ])('says why the operator does not instrument it yet (%s)', (blocked, expected) => {
    const decision = { kind: 'inject', tried: 'add' };
    const verdict = { decision, patch: [{}], kind: workloadKinds.deployment, name: 'cart', blocked } as never;
    expect(describeNext(workloadKinds.deployment, verdict, findDelay(verdict, undefined))).toMatch(expected);
  });

  it('says that it has an injection without a record', () => {
    const workload = withTemplate(made(), injected(toTemplate(made()) as PodTemplate) as PodTemplate);
    expect(describeNow(workload)).toBe('has the injection, without a record of its change');
  });

  it('says that it was reverted, when, and by which cause', () => {
    const revert = { at: 'then', cause: 'Crash', attempt: 1, key: '0123456789abcdef', evidence: 'boom' };
    const metadata = withRevert(made().metadata, revert);
    const now = 'not instrumented, because it was reverted at then (Crash)';
    expect(describeNow({ ...made(), metadata })).toBe(now);
  });

  it('says how to find out that no operator acts, if its Lumigo has no conditions', () => {
    const lumigo = { metadata: { namespace: 'shop', name: 'lumigo', uid: 'l' }, spec: { lumigoToken } };
    const policy = toStore([lumigo as LumigoResource], assumedConfig).policy('shop');
    const { code, message } = decisionOn(workloadKinds.deployment, made(), policy, assumedConfig);
    expect(message).toContain('(NotReconciled)');
    expect(remedies[code]).toContain('If the resource has no conditions, no operator acts: run `lumigo check`.');
  });

  it('promises no attempt by the reason of a revert, which knows no strategy', () => {
    expect(none('reverted', made(), 'boom').message).not.toContain('tries again');
  });

  it('says that another writer undoes the injection, as the status does', () => {
    const kind = workloadKinds.deployment;
    const cart = { kind, name: 'cart', state: { kind: 'blocked', reason: 'Contested' } };
    const condition = rolloutCondition({ ...noRollout, blocked: [cart] as never }, undefined, true);
    const lumigo = { status: { conditions: [condition] } } as never;
    const said = (name: string): string => {
      const verdict = { decision: { kind: 'inject', tried: 'add' }, patch: [{}], kind, name } as never;
      return describeNext(kind, verdict, findDelay(verdict, lumigo));
    };
    expect(said('cart')).toMatch(/^nothing for now: it is changed back by another writer/);
    expect(said('cart')).toMatch(/pass through the webhook.*mode: Pod.*Opt the workload out/);
    expect(said('art')).toMatch(/^the reconciler instruments it/);
  });

  it('says when the first telemetry arrived', () => {
    const status = { instrumentedResources: [{ uid: 'u', telemetry: 'Received', telemetrySince: 'then' }] };
    expect(describeTelemetry([{ status }] as never, 'u')).toBe('arrives at the telemetry proxy, the first at then');
  });

  it.each([
    ['says that Lumigo refuses the token, also if telemetry arrives', 'False', ['put a valid token into the Secret']],
    ['says nothing about a token that Lumigo accepts', 'True', []],
  ])('%s', (_title, status, expected) => {
    const condition = { type: 'TokenAccepted', status, message: 'put a valid token into the Secret' };
    const lumigo = { status: { conditions: [condition] } } as unknown as LumigoResource;
    expect(notesOn(made(), lumigo)).toEqual(expected);
    expect(notesOn(made())).toEqual([]);
  });

  it('does not say that the pods of a silent CronJob run without the injection', () => {
    const status = { instrumentedResources: [{ uid: 'u', telemetry: 'NothingYet' }] };
    const telemetry = 'nothing yet. The operator has not seen all its pods run with the injection';
    expect(describeTelemetry([{ status }] as never, 'u')).toBe(telemetry);
  });
});
