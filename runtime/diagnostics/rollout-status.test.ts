import { describe, expect, it } from '@jest/globals';
import { injected, injector, instrumented, made, withMetadata } from '../../sandbox/testing/injection.ts';
import { instrumentedByOriginal } from '../../sandbox/original/injected.ts';
import { workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { getPolicy } from '../injection/policy.ts';
import { toTemplate, withTemplate } from '../injection/workload.ts';
import { renderStatus, statusOfNamespace } from './rollout-status.ts';

const condition = (type: string) => ({
  type,
  status: 'True' as const,
  reason: 'r',
  message: 'm',
  lastTransitionTime: 't',
});

const reported = (generation: number, observedGeneration?: number, ...types: readonly string[]) =>
  statusOfNamespace({
    namespace: 'shop',
    policy: { kind: 'none' },
    lumigo: {
      metadata: { name: 'lumigo', namespace: 'shop', uid: 'u', generation },
      status: { observedGeneration, conditions: types.map(condition) },
    } as unknown as LumigoResource,
    injector: { image: 'i', platform: 'kubernetes' } as never,
    config: { rolloutStrategy: 'progressive' },
    workloads: [],
  }).isComplete;

const original = (type: string) => ({ type, status: 'True', message: 'm', lastTransitionTime: 't' });

/** The status with one Deployment. */
function under(conditions: readonly object[], workload: Workload, instrumentedResources: readonly object[] = []) {
  const metadata = { name: 'lumigo', namespace: 'shop', uid: 'u', generation: 1 };
  const spec = { lumigoToken: { secretRef: { name: 's', key: 'k' } } };
  const lumigo = { metadata, spec, status: { conditions, instrumentedResources } } as unknown as LumigoResource;
  const workloads = [{ kind: workloadKinds.deployment, workload }];
  const config = { rolloutStrategy: 'progressive' } as const;
  return statusOfNamespace({ namespace: 'shop', policy: getPolicy([lumigo]), lumigo, workloads, injector, config });
}

describe('the status of a namespace', () => {
  it('is complete without a Lumigo resource', () => {
    const config = { rolloutStrategy: 'progressive' } as const;
    const nothing = { namespace: 'shop', policy: { kind: 'none' }, lumigo: undefined, workloads: [], config } as const;
    expect(statusOfNamespace({ ...nothing, injector: {} as never }).isComplete).toBe(true);
  });

  it('is complete, and shows a workload as instrumented, under the original operator', () => {
    const found = under([original('Active')], instrumentedByOriginal(made()));
    expect(found.workloads).toMatchObject([{ state: 'instrumented', details: 'by the original operator' }]);
    expect(found.isComplete).toBe(true);
  });

  it('names an error of the original operator, which writes no reasons', () => {
    const inactive = { ...original('Active'), status: 'False', message: "see the 'Error' condition" };
    const text = renderStatus(
      under([inactive, { ...original('Error'), message: 'no key' }], made()),
      (_, each) => each,
    );
    expect(text).toContain("Namespace shop: the Lumigo 'lumigo' is not active (no key)");
    expect(text).toContain("\nActive: see the 'Error' condition\n");
  });

  it('shows a workload as instrumented whose record another writer has removed', () => {
    const template = injected(toTemplate(made()) as PodTemplate) as PodTemplate;
    const found = under([condition('Active')], withTemplate(made(), template));
    expect(found.workloads).toMatchObject([{ state: 'instrumented', details: 'has no record' }]);
  });

  it.each([
    ['RollingOut', 'rolling out'],
    ['Verified', 'verified'],
    [undefined, 'instrumented'],
  ])('shows an injected workload that the Lumigo resource lists as %s as %s', (state, expected) => {
    const workload = withMetadata(instrumented(), { uid: 'w' });
    expect(under([condition('Active')], workload, [{ uid: 'w', state }]).workloads).toMatchObject([
      { state: expected },
    ]);
  });

  it.each([
    ['is not complete with a new resource', 1, undefined, [], false],
    ['is not complete with an earlier generation', 2, 1, ['Ready'], false],
    ['is not complete while the resource is reconciled', 1, 1, ['Reconciling'], false],
    ['is complete with a reconciled resource', 1, 1, ['Ready'], true],
  ] as const)('%s', (_name, generation, observed, types, expected) => {
    expect(reported(generation, observed, ...types)).toBe(expected);
  });
});
