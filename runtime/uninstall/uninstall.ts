import { setTimeout as sleep } from 'node:timers/promises';
import { lumigo as contract } from '../contract.ts';
import { describeError } from '../errors.ts';
import { policyOf } from '../injection/policy.ts';
import type { LumigoResource, Workload } from '../injection/types.ts';
import { guarded, type Client } from '../kubernetes/client.ts';
import { isNotFound } from '../kubernetes/errors.ts';
import { isManagerAlive, planUninstall, whyStuck, type LeaseView } from './plan-uninstall.ts';
import { isAnyInstrumented, isOptedIn, removeInstrumentation } from './remove-instrumentation.ts';
import { standDown } from './stand-down.ts';

export interface UninstallOptions {
  readonly client: Client;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly deadlineMs: number;
  /** A line for whoever watches. */
  readonly print: (line: string) => void;
  readonly intervalMs?: number;
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
  let left = await listLumigoes(client);
  print(left.length === 0 ? 'There is no Lumigo resource in the cluster.' : `Deleting ${count(left)}.`);
  for (let told = Date.now(); left.length > 0; await sleep(intervalMs)) {
    left = await takeStep(left, options, problems);
    if (left.length === 0) break;
    if (Date.now() > deadline) return left.map((lumigo) => whyStuck(lumigo, problems.get(keyOf(lumigo)) ?? []));
    if (Date.now() - told < PROGRESS_MS) continue;
    told = Date.now();
    print(
      `Waiting for ${count(left)}: ${left.slice(0, SHOWN).map(keyOf).join(', ')}${left.length > SHOWN ? ', …' : ''}`,
    );
  }
  return cleanOptedIn(options);
}

/** Does what can be done now, and returns the Lumigo resources that are left. */
async function takeStep(
  left: readonly LumigoResource[],
  options: UninstallOptions,
  problems: Map<string, readonly string[]>,
): Promise<LumigoResource[]> {
  const { client, print } = options;
  const step = planUninstall(left, isManagerAlive(await readLease(options), Date.now()));
  await Promise.all(step.toDelete.map((lumigo) => attempt(lumigo, problems, () => deleteLumigo(client, lumigo))));
  for (const lumigo of step.toRelease) await attempt(lumigo, problems, () => release(client, lumigo, print));
  return listLumigoes(client);
}

/** What was opted in by label is no Lumigo's; it is cleaned last, when no manager would instrument it again. */
async function cleanOptedIn(options: UninstallOptions): Promise<readonly string[]> {
  const { client, print, lease } = options;
  if (!(await isAnyInstrumented(client, isOptedIn))) {
    print('No Lumigo is left, and no workload that it instrumented.');
    return [];
  }
  if (isManagerAlive(await readLease(options), Date.now())) await standDown(client, lease);
  const { removed, problems } = await removeInstrumentation(client, { wanted: isOptedIn });
  print(`No Lumigo is left. Removed the injection from ${counted(removed, 'workload')} opted in by label.`);
  return problems;
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
  const { namespace, name, finalizers = [], resourceVersion = '' } = lumigo.metadata;
  const policy = policyOf([lumigo]);
  if (policy.state === 'deleting' && policy.remove) {
    const wanted = (workload: Workload) => !isOptedIn(workload);
    const { removed, problems } = await removeInstrumentation(client, { namespace, wanted });
    if (removed > 0)
      print(`No manager answers; removed the injection from ${counted(removed, 'workload')} of '${namespace}'.`);
    if (problems.length > 0) return problems;
  }
  const value = finalizers.filter((finalizer) => finalizer !== contract.finalizer);
  const patch = guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]);
  await client.patch({ ...contract, namespace, name }, patch);
  return [];
}

async function readLease({ client, lease }: UninstallOptions): Promise<LeaseView | undefined> {
  try {
    const found = await client.get({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases', ...lease });
    const {
      holderIdentity = '',
      renewTime,
      leaseDurationSeconds = 15,
    } = (found as { spec?: Partial<LeaseView> }).spec ?? {};
    return { holderIdentity, renewTime, leaseDurationSeconds };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
