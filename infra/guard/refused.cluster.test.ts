import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { guardAnswer, workloads, type WorkloadKind } from '../../runtime/contract.ts';
import { inject } from '../../runtime/injection/inject.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { toTemplate, withTemplate } from '../../runtime/injection/workload.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { fuzz } from '../../sandbox/testing/fuzz.ts';
import { foreignChange } from '../../sandbox/testing/guard/foreign-changes.ts';
import { refusal, startGuarded, type GuardedCluster } from '../../sandbox/testing/guard/guarded-cluster.ts';
import { tracing } from '../../sandbox/testing/injection.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';

const CHANGES = 60;
const counts = { refused: 0, invalid: 0 };

let guarded: GuardedCluster;
let namespace: string;
beforeAll(async () => {
  guarded = await startGuarded();
  namespace = await guarded.testCluster.namespace('refused');
});
afterAll(async () => {
  process.stderr.write(
    `${counts.refused} foreign changes refused, ${counts.invalid} more are invalid; LUMIGO_FUZZ_SEED=${fuzz.seed} makes the same choices again\n`,
  );
  await guarded?.stop();
});

const changeable = workloads.filter(({ mutable }) => mutable).map((kind) => [kind.kind, kind] as const);

async function make(kind: WorkloadKind, index: number, template: Parameters<typeof inject>[0]): Promise<Workload> {
  const name = `app-${index}`;
  const labelled = { ...template.metadata, labels: { ...template.metadata?.labels, app: name } };
  const result = inject({ ...template, metadata: labelled }, { ...guarded.injector, ...tracing });
  const injected =
    result.refused === undefined && index % 2 === 0 ? result.template : { ...template, metadata: labelled };
  const plain = createWorkload(kind, namespace, name) as unknown as Workload;
  const created = await guarded.testCluster.create(withTemplate(plain, injected) as never);
  return { ...created, apiVersion: kind.apiVersion, kind: kind.kind };
}

const content = ({ metadata, ...rest }: Workload) => {
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return JSON.parse(JSON.stringify({ ...rest, metadata: kept })) as object;
};

async function attack(kind: WorkloadKind, workload: Workload, pick: number): Promise<void> {
  const { name, patch } = foreignChange(workload, pick);
  const ref = { ...kind, namespace, name: workload.metadata.name ?? '' };
  let after: object | undefined;
  const write = guarded.manager.patch(ref, { kind: 'json', operations: patch }, { dryRun: true });
  const answer = await refusal(write.then(({ object }) => (after = object)));
  if (answer === undefined) {
    const { apiVersion, kind: of } = workload;
    const same = content({ ...(after as Workload), apiVersion, kind: of });
    // The API server does not store some changes, such as an unknown field.
    expect({ name, after: same }).toEqual({ name, after: content(workload) });
  } else if (answer.includes(guardAnswer)) counts.refused += 1;
  else counts.invalid += 1;
}

describe.each(changeable)('the guard over a %s', (_name, kind) => {
  it('refuses each change that is not an injection, a removal or a note', async () => {
    let count = 0;
    const restartPolicy = kind.kind === 'CronJob' ? 'Never' : 'Always';
    const picks = fc.array(fc.noBias(fc.nat()), { minLength: CHANGES, maxLength: CHANGES });
    await fc.assert(
      fc.asyncProperty(podTemplate({ restartPolicy }), picks, async (template, chosen) => {
        count += 1;
        const workload = await make(kind, count, template);
        expect(toTemplate(workload)).toBeDefined();
        for (const pick of chosen) await attack(kind, workload, pick);
      }),
      { ...fuzz, numRuns: 12, endOnFailure: true },
    );
    expect(counts.refused).toBeGreaterThan(400);
  });
});
