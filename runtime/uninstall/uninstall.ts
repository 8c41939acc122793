import { setTimeout as sleep } from 'node:timers/promises';
import { lumigo as contract } from '../contract.ts';
import { describeError } from '../errors.ts';
import { policyOf } from '../injection/policy.ts';
import type { LumigoResource, Workload } from '../injection/types.ts';
import type { Client } from '../kubernetes/client.ts';
import { isNotFound, undefinedIfNotFound } from '../kubernetes/errors.ts';
import { removeFinalizer } from '../kubernetes/finalizers.ts';
import { isManagerAlive, planUninstall, whyStuck, type LeaseView } from './plan-uninstall.ts';
import { isAnyInstrumented, isOptedIn, isToStay, removeInstrumentation } from './remove-instrumentation.ts';
import { standDown } from './stand-down.ts';

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

export interface UninstallOptions {
  readonly client: Client;
  /** The leader's; undefined where no operator is left that could have one. */
  readonly lease: LeaseName | undefined;
  readonly deadlineMs: number;
  /** A line for whoever watches. */
  readonly print: (line: string) => void;
  readonly intervalMs?: number;
  /**
   * No manager is left that would answer, whatever the Lease says, and nobody comes after the caller: what is stuck at the
   * deadline holds up no Lumigo, and so no namespace, any longer.
   */
  readonly isLast?: boolean;
  /** What refuses to change is told of and stays, and is no failure: a release that is deleted must not hang on one workload. */
  readonly leavesRefusing?: boolean;
}

const INTERVAL_MS = 1_000;
const PROGRESS_MS = 5_000;
/** How many of those that are left a line of progress names. */
const SHOWN = 5;

/**
 * Deletes every Lumigo and waits until they are gone, looking again each second rather than waiting for an event. A
 * manager that leads answers the finalizers; where there is none, this does its work. Returns what is stuck at the
 * deadline and why, a line each: empty when the cluster is clean.
 */
export async function uninstall(options: UninstallOptions): Promise<readonly string[]> {
  const { client, print, deadlineMs, intervalMs = INTERVAL_MS } = options;
  const deadline = Date.now() + deadlineMs;
  const problems = new Map<string, readonly string[]>();
  const kept = new Set<string>();
  let left = await listLumigoes(client);
  print(left.length === 0 ? 'There is no Lumigo resource in the cluster.' : `Deleting ${count(left)}.`);
  for (let told = Date.now(); left.length > 0; await sleep(intervalMs)) {
    for (const namespace of namespacesThatKeep(left)) kept.add(namespace);
    left = await takeStep(left, options, problems);
    if (left.length === 0) break;
    if (Date.now() > deadline) {
      if (options.isLast === true) await Promise.all(left.map((lumigo) => letLumigoGo(client, lumigo)));
      return left.map((lumigo) => whyStuck(lumigo, problems.get(keyOf(lumigo)) ?? []));
    }
    if (Date.now() - told < PROGRESS_MS) continue;
    told = Date.now();
    print(
      `Waiting for ${count(left)}: ${left.slice(0, SHOWN).map(keyOf).join(', ')}${left.length > SHOWN ? ', …' : ''}`,
    );
  }
  return cleanRest(options, deadline, ({ metadata }) => kept.has(metadata.namespace ?? ''));
}

/** Where a Lumigo says that its workloads stay instrumented, none is touched, whether or not each knows it already. */
const namespacesThatKeep = (lumigoes: readonly LumigoResource[]): string[] =>
  lumigoes.flatMap(({ metadata, spec }) =>
    spec?.tracing?.injection?.removeLumigoFromResourcesOnDeletion === false ? [metadata.namespace] : [],
  );

/** Does what can be done now, and returns the Lumigo resources that are left. */
async function takeStep(
  left: readonly LumigoResource[],
  options: UninstallOptions,
  problems: Map<string, readonly string[]>,
): Promise<LumigoResource[]> {
  const { client, print } = options;
  const step = planUninstall(left, await isAnswered(options));
  await Promise.all(step.toDelete.map((lumigo) => attempt(lumigo, problems, () => deleteLumigo(client, lumigo))));
  for (const lumigo of step.toRelease) await attempt(lumigo, problems, () => release(client, lumigo, print));
  return listLumigoes(client);
}

/**
 * What is instrumented still: opted in by its label, which no manager would instrument again once all Lumigo resources are
 * gone, or left behind by a Lumigo because it refused to change. Returns what refuses until the deadline.
 */
async function cleanRest(
  options: UninstallOptions,
  deadline: number,
  isKept: (workload: Workload) => boolean,
): Promise<readonly string[]> {
  const { client, print, lease, intervalMs = INTERVAL_MS } = options;
  const wanted = (workload: Workload): boolean => !isToStay(workload) && !isKept(workload);
  if (!(await isAnyInstrumented(client, wanted))) {
    print('No Lumigo is left, and no workload that it instrumented.');
    return [];
  }
  if (lease !== undefined && (await isAnswered(options))) await standDown(client, lease);
  for (let total = 0; ; await sleep(intervalMs)) {
    const { removed, problems } = await removeInstrumentation(client, { wanted });
    total += removed;
    if (options.leavesRefusing === true) {
      problems.forEach(print);
      return [];
    }
    if (problems.length > 0 && Date.now() < deadline) continue;
    print(`No Lumigo is left. Removed the injection from ${counted(total, 'workload')} that had none.`);
    return problems;
  }
}

const keyOf = ({ metadata }: LumigoResource): string => `${metadata.namespace}/${metadata.name}`;
const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
const count = (left: readonly LumigoResource[]): string => counted(left.length, 'Lumigo resource');

async function attempt(
  lumigo: LumigoResource,
  problems: Map<string, readonly string[]>,
  action: () => Promise<readonly string[]>,
): Promise<void> {
  try {
    problems.set(keyOf(lumigo), await action());
  } catch (error) {
    if (!isNotFound(error)) problems.set(keyOf(lumigo), [describeError(error)]);
  }
}

async function listLumigoes(client: Client): Promise<LumigoResource[]> {
  const found: LumigoResource[] = [];
  try {
    for await (const { items } of client.pages(contract, { limit: 500 }))
      found.push(...(items as unknown as LumigoResource[]));
  } catch (error) {
    // Without the CRD there is no Lumigo.
    if (!isNotFound(error)) throw error;
  }
  return found;
}

async function deleteLumigo(client: Client, { metadata }: LumigoResource): Promise<readonly string[]> {
  const { namespace, name, uid } = metadata;
  await client.delete({ ...contract, namespace, name }, { preconditions: { uid } });
  return [];
}

/** Does what the manager would do for a Lumigo that is being deleted: respects its settings, then lets it go. */
async function release(
  client: Client,
  lumigo: LumigoResource,
  print: (line: string) => void,
): Promise<readonly string[]> {
  const { namespace } = lumigo.metadata;
  const policy = policyOf([lumigo]);
  if (policy.state === 'deleting' && policy.remove) {
    const wanted = (workload: Workload) => !isOptedIn(workload);
    const { removed, problems } = await removeInstrumentation(client, { namespace, wanted });
    if (removed > 0)
      print(`No manager answers; removed the injection from ${counted(removed, 'workload')} of '${namespace}'.`);
    if (problems.length > 0) return problems;
  }
  await letLumigoGo(client, lumigo);
  return [];
}

const letLumigoGo = (client: Client, { metadata }: LumigoResource): Promise<void> => {
  const { namespace, name } = metadata;
  return removeFinalizer(client, { ...contract, namespace, name }, metadata, contract.finalizer);
};

const isAnswered = async ({ client, lease, isLast = false }: UninstallOptions): Promise<boolean> =>
  lease !== undefined && !isLast && isManagerAlive(await readLease(client, lease), Date.now());

/** What the leader's Lease says; undefined where there is none. */
export async function readLease(client: Client, lease: LeaseName): Promise<LeaseView | undefined> {
  const ref = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', ...lease };
  const found = await client.get(ref).catch(undefinedIfNotFound);
  if (found === undefined) return undefined;
  const {
    holderIdentity = '',
    renewTime,
    leaseDurationSeconds = 15,
  } = (found as { spec?: Partial<LeaseView> }).spec ?? {};
  return { holderIdentity, renewTime, leaseDurationSeconds };
}
