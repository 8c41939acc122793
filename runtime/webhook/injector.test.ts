import { describe, expect, it } from '@jest/globals';
import { active, injector, instrumented, made, withContainers, withMetadata } from '../../sandbox/testing/injection.ts';
import type { InjectorReport, LumigoResource } from '../api/lumigo.ts';
import { labels, workloadKinds } from '../contract.ts';
import { withRevert } from '../injection/revert.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { reviewWorkload } from './injector.ts';

const reporting = (injector?: InjectorReport) => ({ status: { injector } }) as LumigoResource;
const review = (operation: string, more: object = {}, report?: InjectorReport, policy: NamespacePolicy = active) =>
  reviewWorkload(
    { uid: 'u', namespace: 'shop', operation, ...more },
    { injector, ownUser: 'us', lumigoes: { policy: () => policy, effective: () => reporting(report) } },
  );

describe('the review of a workload', () => {
  it('injects a new workload, except while the leader reports a failing injector [F67]', () => {
    expect(review('CREATE', { object: made() }).patch).toBeDefined();
    const answer = review('CREATE', { object: made() }, { health: 'failing', why: 'it crashed' });
    expect(answer).toMatchObject({ code: 200, message: expect.stringContaining('the injection fails: it crashed') });
    expect(answer.patch).toBeUndefined();
  });

  it('warns that a workload is too large for a decision, and does not change it [F20, F22]', () => {
    const env = Array.from({ length: 6_000 }, (_, index) => ({ name: `e${index}` }));
    const answer = review('CREATE', { object: made({ env }) });
    expect(answer.warnings).toEqual([expect.stringMatching(/^Lumigo: .* exceeds the size limit/)]);
    expect(answer.patch).toBeUndefined();
  });

  it('is notable if the workload is opted out, and the request is no dry run [F53]', () => {
    const own = { [labels.autoTrace]: 'false' };
    const optedOut = made({ labels: own });
    const changed = made({ labels: own, podLabels: { note: 'x' } });
    expect(review('CREATE', { object: optedOut }).notable).toBe('Deployment shop/app');
    expect(review('UPDATE', { object: changed, oldObject: optedOut }).notable).toBe('Deployment shop/app');
    expect(review('CREATE', { object: optedOut, dryRun: true }).notable).toBeUndefined();
    expect(review('CREATE', { object: made() }).notable).toBeUndefined();
  });

  it('is notable, with the reason, if a reverted workload is opted out [F53]', () => {
    const revert = { at: 'now', cause: 'Crash', attempt: 1, key: '0'.repeat(16), evidence: 'it crashed' };
    const oldObject = withMetadata(made(), withRevert(made().metadata, revert));
    const object = withMetadata(oldObject, { labels: { ...oldObject.metadata.labels, [labels.autoTrace]: 'false' } });
    const message = expect.stringMatching(/^the resource has the 'lumigo.auto-trace' label set to 'false'/);
    expect(review('UPDATE', { object, oldObject })).toMatchObject({ message, notable: 'Deployment shop/app' });
    expect(review('UPDATE', { object, oldObject }).patch).toBeDefined();
  });

  it('warns that an update removes the injection because the new pod template refuses it', () => {
    const oldObject = instrumented();
    const object = withContainers(oldObject, () => ({ resources: { limits: { cpu: '20m' } } }));
    const answer = review('UPDATE', { object, oldObject });
    expect(answer.patch).toBeDefined();
    expect(answer.warnings).toEqual([expect.stringMatching(/^Lumigo: The injection is removed: .*cpu limit \(20m\)/)]);
    const optOut = withMetadata(oldObject, { labels: { [labels.autoTrace]: 'false' } });
    expect(review('UPDATE', { object: optOut, oldObject }).warnings).toEqual([]);
  });

  it('warns about an object of another form, in a namespace that is traced', () => {
    const message = expect.stringContaining('is not of the form that Kubernetes defines');
    const warnings = [expect.stringMatching(/^Lumigo: the object is not of the form/)];
    expect(review('UPDATE', { oldObject: made() })).toMatchObject({ code: 200, message, warnings });
    expect(review('UPDATE', { oldObject: made() }, undefined, { kind: 'none' }).warnings).toEqual([]);
    // The operator's probe cannot read its label there.
    const own = { oldObject: made(), userInfo: { username: 'us' }, dryRun: true };
    expect(review('UPDATE', own, undefined, { kind: 'none' })).toMatchObject({ code: 200, warnings });
  });

  it('warns about each malformed template that replaces an injected one', () => {
    const malformed = (name: number) => withContainers(instrumented(made({}, workloadKinds.rollout)), () => ({ name }));
    const { warnings } = review('UPDATE', { object: malformed(6), oldObject: malformed(5) });
    expect(warnings).toEqual([expect.stringMatching(/^Lumigo: The resource has no pod template of the form/)]);
  });

  const userInfo = { username: 'us' };
  const optOut = { labels: { [labels.autoTrace]: 'false' } };
  const { job } = workloadKinds;
  const note = withMetadata(made(), { annotations: { note: 'x' } });
  it.each([
    [
      'which its user only annotates',
      { object: note, oldObject: made() },
      'The update changes neither the pod template',
    ],
    [
      'which the operator changes',
      { object: made(), oldObject: instrumented(), userInfo },
      "The operator's own request",
    ],
    [
      'which is opted out',
      { object: made(optOut), oldObject: made(optOut) },
      "the resource has the 'lumigo.auto-trace'",
    ],
    ['which is a Job', { object: made({}, job), oldObject: made({}, job) }, "A Job's pod template cannot change"],
  ])('does not change a workload %s', (_which, request, beginning) => {
    const message = expect.stringContaining(beginning);
    expect(review('UPDATE', request)).toEqual({ code: 200, message, warnings: [] });
  });

  it('says that a request deletes the resource', () => {
    const message = 'The request deletes the resource; resource will not be mutated';
    for (const more of [{}, { userInfo }])
      expect(review('DELETE', { oldObject: made(), ...more })).toEqual({ code: 200, message, warnings: [] });
  });
});
