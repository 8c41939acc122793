import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { guardAnswer, workloads, type WorkloadKind } from '../../runtime/contract.ts';
import type { PodTemplate, Workload } from '../../runtime/api/objects.ts';
import { withTemplate } from '../../runtime/injection/workload.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { fuzz } from '../../sandbox/testing/fuzz.ts';
import { startGuarded, write, type GuardedCluster } from '../../sandbox/testing/guard/guarded-cluster.ts';
import { steps, type Step } from '../../sandbox/testing/guard/operator-steps.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';

let guarded: GuardedCluster;
let namespace: string;
let writes = 0;
beforeAll(async () => {
  guarded = await startGuarded({ injection: { imagePullSecrets: ['registry', 'mine'] } });
  namespace = await guarded.testCluster.namespace('allowed');
});
afterAll(async () => {
  process.stderr.write(
    `${writes} changes by the operator; LUMIGO_FUZZ_SEED=${fuzz.seed} makes the same choices again\n`,
  );
  await guarded?.stop();
});

const changeable = workloads.filter(({ mutable }) => mutable).map((kind) => [kind.kind, kind] as const);

async function make(kind: WorkloadKind, name: string, template: PodTemplate): Promise<Workload> {
  const labels = { ...template.metadata?.labels, app: name };
  const plain = createWorkload(kind, namespace, name) as unknown as Workload;
  const whole = withTemplate(plain, { ...template, metadata: { ...template.metadata, labels } });
  const created = await guarded.testCluster.create(whole as never);
  return { ...created, apiVersion: kind.apiVersion, kind: kind.kind };
}

/** A step of a user that the API server refuses is skipped. */
async function take({ by, name, change }: Step, workload: Workload): Promise<Workload> {
  const after = change(workload, guarded.injector);
  if (after === undefined) return workload;
  if (by === 'user') return write(guarded.cluster.client, workload, after).catch(() => workload);
  writes += 1;
  return write(guarded.manager, workload, after).catch((error: unknown) => {
    if (!(error as Error).message.includes(guardAnswer)) return workload;
    throw new Error(`${name}: ${(error as Error).message}\n${JSON.stringify([workload, after])}`);
  });
}

describe.each(changeable)('the guard over a %s', (_name, kind) => {
  it('allows each change by an injection, a removal and the notes of the reconciler', async () => {
    let count = 0;
    const restartPolicy = kind.kind === 'CronJob' ? 'Never' : 'Always';
    await fc.assert(
      fc.asyncProperty(podTemplate({ restartPolicy }), steps, async (template, taken) => {
        count += 1;
        let workload = await make(kind, `app-${count}`, template);
        for (const step of taken) workload = await take(step, workload);
      }),
      { ...fuzz, numRuns: 60, endOnFailure: true },
    );
    expect(writes).toBeGreaterThan(60);
  });
});
