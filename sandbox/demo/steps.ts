import { setTimeout as sleep } from 'node:timers/promises';
import { lumigo as contract } from '../../runtime/contract.ts';
import { decide } from '../../runtime/injection/decide.ts';
import { getPolicy } from '../../runtime/injection/policy.ts';
import { parseInjectionStatus } from '../../runtime/injection/injection-status.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { LumigoResource } from '../../runtime/api/lumigo.ts';
import type { InjectorSettings } from '../../runtime/injection/types.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import { annotations } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { isInstrumented } from '../lumigo.ts';
import type { DemoCluster } from './cluster.ts';
import type { Printer } from './printer.ts';
import { create, differences, toLabel, read, getSnapshot, type Snapshot } from './snapshot.ts';
import { demoLumigo, demoNamespace, existing, later, namespace, secret, type DemoWorkload } from './workloads.ts';

const PATIENCE_MS = 60_000;
const POLL_MS = 40;

export interface Demo {
  readonly cluster: DemoCluster;
  readonly printer: Printer;
  readonly before: Map<DemoWorkload, Snapshot>;
}

export async function deployWorkloads({ cluster: { client }, printer, before }: Demo): Promise<void> {
  await client.create({ group: '', version: 'v1', plural: 'namespaces' }, namespace);
  for (const workload of existing) before.set(workload, getSnapshot(await create(client, workload, false)));
  for (const workload of later) before.set(workload, getSnapshot(await create(client, workload, true)));
  await client.create({ group: '', version: 'v1', plural: 'secrets', namespace: demoNamespace }, secret);
  printer.step(`namespace '${demoNamespace}': ${existing.map(toLabel).join(', ')}`);
}

export async function instrument(demo: Demo): Promise<string[]> {
  const { cluster, printer } = demo;
  await cluster.client.create({ ...contract, namespace: demoNamespace }, demoLumigo);
  printer.step('a Lumigo is created. The reconciler instruments the existing workloads');
  const problems = await follow(demo, existing);
  printer.step('more workloads are created. The webhook instruments them at creation');
  for (const workload of later) await create(cluster.client, workload, false);
  return [...problems, ...(await follow(demo, later))];
}

async function follow({ cluster: { client }, printer }: Demo, workloads: readonly DemoWorkload[]): Promise<string[]> {
  const waiting = new Set(workloads.filter(({ expected }) => expected === 'instrumented'));
  const deadline = Date.now() + PATIENCE_MS;
  while (waiting.size > 0 && Date.now() < deadline) {
    for (const workload of waiting) {
      const now = await read(client, workload);
      if (!isInstrumented(toTemplate(now))) continue;
      waiting.delete(workload);
      printer.instrumented(toLabel(workload), describe(now));
    }
    await sleep(POLL_MS);
  }
  const problems = [...waiting].map(
    (workload) => `${toLabel(workload)} was not instrumented within ${PATIENCE_MS / 1_000} s`,
  );
  for (const workload of workloads.filter(({ expected }) => expected === 'untouched')) {
    const now = await read(client, workload);
    if (isInstrumented(toTemplate(now))) problems.push(`${toLabel(workload)} was instrumented, but must not be`);
    else printer.leftAlone(toLabel(workload), await reasonFor(client, now));
  }
  return problems;
}

function describe({ metadata }: Workload): string {
  const by = parseInjectionStatus(metadata.annotations?.[annotations.instrumentation])?.by;
  return `instrumented by the ${by === 'webhook' ? 'webhook, at creation' : 'reconciler'}`;
}

/** Only the decision is used. Nothing is written with these settings. */
const anyInjector: InjectorSettings = {
  version: 'demo',
  image: 'demo',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  endpoint: 'http://demo',
  platform: 'kubernetes',
};

async function reasonFor(client: Client, workload: Workload): Promise<string> {
  const lumigo = await client.get({ ...contract, namespace: demoNamespace, name: 'lumigo' });
  const policy = getPolicy([lumigo as unknown as LumigoResource]);
  const now = new Date().toISOString();
  return decide({ workload, operation: 'RECONCILE', policy, injector: anyInjector, now, by: 'controller' }).message;
}

export async function removeLumigo({ cluster: { client }, printer, before }: Demo): Promise<string[]> {
  const gone = deleteLumigo(client);
  printer.step('the Lumigo is deleted');
  if (!(await gone)) return [`the Lumigo still exists ${PATIENCE_MS / 1_000} s after its deletion`];
  const problems: string[] = [];
  for (const workload of [...existing, ...later]) {
    if (!workload.restored) {
      printer.leftAlone(toLabel(workload), "keeps the injection, because a Job's template cannot change");
      continue;
    }
    const was = before.get(workload);
    const found = was === undefined ? [] : differences(was, getSnapshot(await read(client, workload)));
    problems.push(...found.map((difference) => `${toLabel(workload)}: ${difference}`));
    if (found.length === 0) printer.instrumented(toLabel(workload), 'is restored exactly');
  }
  return problems;
}

/** Returns true if the `Lumigo` no longer exists within a minute: the manager must release its finalizer. */
export async function deleteLumigo(client: Client): Promise<boolean> {
  const ref = { ...contract, namespace: demoNamespace, name: 'lumigo' };
  await client.delete(ref).catch(undefinedIfNotFound);
  const deadline = Date.now() + PATIENCE_MS;
  while ((await client.find(ref)) !== undefined) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
