import { annotations, type WorkloadKind } from '../../runtime/contract.ts';
import { decide } from '../../runtime/injection/decide.ts';
import { getPolicy } from '../../runtime/injection/policy.ts';
import { parseInjectionStatus } from '../../runtime/injection/injection-status.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { findKind, toTemplate } from '../../runtime/injection/workload.ts';
import { isInstrumented } from '../lumigo.ts';
import { injector } from '../testing/injection.ts';
import type { TestCluster } from '../testing/test-cluster.ts';
import { eventually } from '../testing/eventually.ts';
import { getBytes } from '../testing/workloads.ts';
import type { Printer } from './printer.ts';
import { demoLumigo, demoNamespace, existing, later, namespace, secret, type DemoWorkload } from './workloads.ts';

const patience = { timeoutMs: 60_000, intervalMs: 40 };
const seconds = patience.timeoutMs / 1_000;

export interface Demo {
  readonly testCluster: TestCluster;
  readonly printer: Printer;
  /** The bytes of each workload without the injection. */
  readonly before: Map<DemoWorkload, string>;
}

export async function deployWorkloads({ testCluster, printer, before }: Demo): Promise<void> {
  for (const object of [namespace, ...existing.map(({ manifest }) => manifest), secret])
    await testCluster.create(object);
  for (const workload of existing) before.set(workload, getBytes(await read(testCluster, workload)));
  for (const workload of later) before.set(workload, getBytes(await testCluster.dryRun(workload.manifest)));
  printer.step(`namespace '${demoNamespace}': ${existing.map(toLabel).join(', ')}`);
}

export async function instrument(demo: Demo): Promise<string[]> {
  const { testCluster, printer } = demo;
  await testCluster.create(demoLumigo);
  printer.step('a Lumigo is created. The reconciler instruments the existing workloads');
  const problems = await follow(demo, existing);
  printer.step('more workloads are created. The webhook instruments them at creation');
  for (const { manifest } of later) await testCluster.create(manifest);
  return [...problems, ...(await follow(demo, later))];
}

async function follow({ testCluster, printer }: Demo, workloads: readonly DemoWorkload[]): Promise<string[]> {
  const waiting = new Set(workloads.filter(({ expected }) => expected === 'instrumented'));
  const printNew = async (): Promise<void> => {
    for (const workload of waiting) {
      const now = await read(testCluster, workload);
      if (!isInstrumented(toTemplate(now))) continue;
      waiting.delete(workload);
      printer.instrumented(toLabel(workload), describe(now));
    }
    if (waiting.size > 0) throw new Error('some workloads are not instrumented');
  };
  await eventually(printNew, patience).catch(() => undefined);
  const problems = [...waiting].map((workload) => `${toLabel(workload)} was not instrumented within ${seconds} s`);
  for (const workload of workloads.filter(({ expected }) => expected === 'untouched')) {
    const now = await read(testCluster, workload);
    if (isInstrumented(toTemplate(now))) problems.push(`${toLabel(workload)} was instrumented, but must not be`);
    else printer.skipped(toLabel(workload), await reasonFor(testCluster, now));
  }
  return problems;
}

function describe({ metadata }: Workload): string {
  const by = parseInjectionStatus(metadata.annotations?.[annotations.instrumentation])?.by;
  return `instrumented by the ${by === 'webhook' ? 'webhook, at creation' : 'reconciler'}`;
}

/** Only the decision is used. Nothing is written with these settings. */
async function reasonFor(testCluster: TestCluster, workload: Workload): Promise<string> {
  const policy = getPolicy([await testCluster.readLumigo(demoNamespace)]);
  const now = new Date().toISOString();
  return decide({ workload, operation: 'RECONCILE', policy, injector, now, by: 'controller' }).message;
}

/** The manager must release its finalizer. */
export async function removeLumigo({ testCluster, printer, before }: Demo): Promise<string[]> {
  printer.step('the Lumigo is deleted');
  try {
    await testCluster.deleteLumigo(demoNamespace);
  } catch {
    return [`the Lumigo still exists ${seconds} s after its deletion`];
  }
  const problems: string[] = [];
  for (const workload of [...existing, ...later]) {
    if (workload.manifest.kind === 'Job' && workload.expected === 'instrumented') {
      printer.skipped(toLabel(workload), "keeps the injection, because a Job's template cannot change");
      continue;
    }
    const was = before.get(workload);
    const is = getBytes(await read(testCluster, workload));
    if (was === is) printer.instrumented(toLabel(workload), 'is restored exactly');
    else problems.push(`${toLabel(workload)} was ${was} and is ${is}`);
  }
  return problems;
}

const toLabel = ({ manifest }: DemoWorkload): string => `${manifest.kind}/${manifest.metadata.name}`;

const read = (testCluster: TestCluster, { manifest: { apiVersion, kind, metadata } }: DemoWorkload) =>
  testCluster.get(findKind(apiVersion, kind) as WorkloadKind, demoNamespace, metadata.name ?? '');
