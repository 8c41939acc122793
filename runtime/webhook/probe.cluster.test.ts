import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { workloadKinds } from '../contract.ts';
import { reviewLumigo } from './lumigoes.ts';
import { isOwnRefusal, nextCandidate, type Candidate } from './probe.ts';
import { tooLargeNote } from './review.ts';

const candidate = (namespace: string, name = 'app'): Candidate => ({
  lumigo: { metadata: { namespace, name: 'lumigo', uid: namespace } } as LumigoResource,
  workload: { ...workloadKinds.deployment, kind: workloadKinds.deployment, namespace, name },
});

describe('the probe of the webhook', () => {
  let operator: OperatorBench;
  beforeAll(async () => {
    operator = await startOperator({ controllerManager: false });
  });
  afterAll(() => operator?.stop());

  it('succeeds with a workload that is too large to be reviewed', async () => {
    const { testCluster } = operator;
    const namespace = await testCluster.namespace('large');
    const app = { name: 'app', image: 'app:1', args: ['x'.repeat(600_000)] };
    await testCluster.create(
      createWorkload(workloadKinds.deployment, namespace, 'app', { pod: { containers: [app] } }),
    );
    await testCluster.activate(namespace);
    await testCluster.waitForCondition(namespace, 'WebhookReachable', { status: 'True', reason: 'ProbeSucceeded' });
  });

  it('recognizes the answer for a Lumigo that is too large to be reviewed', () => {
    const lumigoes = { in: () => [], isExcluded: () => false };
    const { warnings } = reviewLumigo({ uid: 'u', namespace: 'shop', operation: 'UPDATE', unread: '2 MB' }, lumigoes);
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${tooLargeNote}`))]);
  });

  it('ignores the refusal of a workload that has the name of the webhook', () => {
    const message = 'Deployment.apps "injector.operator.lumigo.io" is invalid: spec.template.annotations: Too long';
    expect(isOwnRefusal(message)).toBe(false);
  });

  it('uses each namespace in turn, so the objects of one alone do not decide', () => {
    const all = [candidate('a'), candidate('b'), candidate('c')];
    const [a, b, c] = all;
    expect([undefined, a, b, c].map((last) => nextCandidate(all, last))).toEqual([a, b, c, a]);
    expect(nextCandidate(all, candidate('deleted'))).toBe(a);
    expect(nextCandidate(all, candidate('a', 'another'))).toBe(b);
    expect(nextCandidate([candidate('a')], a)).toEqual(a);
    expect(nextCandidate([], a)).toBeUndefined();
  });
});
