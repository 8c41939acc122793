import { setTimeout as sleep } from 'node:timers/promises';
import { atOnce } from '../async/at-once.ts';
import { lumigo as contract } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import { policyOf } from '../injection/policy.ts';
import type { LumigoResource, Workload } from '../injection/types.ts';
import type { Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isNotFound } from '../kubernetes/http/errors.ts';
import { removeFinalizer } from '../kubernetes/resources/finalizers.ts';
import { isLed, standDown } from './lease.ts';
import { planUninstall, whyStuck } from './plan-uninstall.ts';
import { isAnyInstrumented, isOptedIn, isToStay, removeInstrumentation } from './remove-instrumentation.ts';

interface UninstallOptions {
  readonly client: Client;
  /** Undefined where no operator is left whose manager could answer. */
  readonly installed: Installed | undefined;
  /** Until when (by Date.now) what refuses to change is tried again. */
  readonly deadline: number;
  /** Until when changes are begun, where that is later: many that do change may take longer than one that refuses. */
  readonly until?: number;
  /** Prints a line of progress. */
  readonly print: (line: string) => void;
  /**
   * The caller is the last one, and no manager answers, whatever the Lease says. A `Lumigo` that is stuck at the deadline is
   * released, so that it does not hold its namespace.
   */
  readonly isLast?: boolean;
}

const INTERVAL_MS = 1_000;
const PROGRESS_MS = 5_000;
/** The number of `Lumigo` resources whose workloads are changed at the same time. */
const MAX_CONCURRENT_RELEASES = 4;
const MAX_NAMES_SHOWN = 5;

/**
 * Deletes every `Lumigo` and reads each second until none is left. A manager that leads removes the finalizers. Without one, this does.
 * @returns a line for each object that is stuck at the deadline; empty: the cluster is clean
 */
export async function uninstall(options: UninstallOptions): Promise<readonly string[]> {
  const { client, print, deadline } = options;
  const problems = new Map<string, readonly string[]>();
  const kept = new Set<string>();
  let left = await listLumigoes(client);
  print(left.length === 0 ? 'There is no Lumigo resource in the cluster.' : `Deleting ${count(left)}.`);
  for (let told = Date.now(); left.length > 0; await sleep(INTERVAL_MS)) {
    for (const namespace of namespacesThatKeep(left)) kept.add(namespace);
    left = await takeStep(left, options, problems);
    if (left.length === 0) break;
    if (isLastLook(deadline)) {
      if (options.isLast === true) await Promise.all(left.map((lumigo) => removeLumigoFinalizer(client, lumigo)));
      return left.map((lumigo) => whyStuck(lumigo, problems.get(keyOf(lumigo)) ?? []));
    }
    if (Date.now() - told < PROGRESS_MS) continue;
    told = Date.now();
    print(
      `Waiting for ${count(left)}: ${left.slice(0, MAX_NAMES_SHOWN).map(keyOf).join(', ')}${left.length > MAX_NAMES_SHOWN ? ', …' : ''}`,
    );
  }
  return cleanRest(options, ({ metadata }) => kept.has(metadata.namespace ?? ''));
}

/** Returns the namespaces whose `Lumigo` keeps the injection. An annotation of the workload may not say so yet. */
const namespacesThatKeep = (lumigoes: readonly LumigoResource[]): string[] =>
  lumigoes.flatMap(({ metadata, spec }) =>
    spec?.tracing?.injection?.removeLumigoFromResourcesOnDeletion === false ? [metadata.namespace] : [],
  );

/** Does what is possible now, and returns the `Lumigo` resources that are left. */
async function takeStep(
  left: readonly LumigoResource[],
  options: UninstallOptions,
  problems: Map<string, readonly string[]>,
): Promise<LumigoResource[]> {
  const { client } = options;
  const { toDelete, toRelease } = planUninstall(left, await isAnswered(options));
  const attempt = async (lumigo: LumigoResource, action: Promise<readonly string[] | void>): Promise<void> => {
    const failed = (error: unknown) => (isNotFound(error) ? [] : [describeError(error)]);
    problems.set(keyOf(lumigo), (await action.catch(failed)) ?? []);
  };
  await Promise.all(toDelete.map((lumigo) => attempt(lumigo, deleteLumigo(client, lumigo))));
  await atOnce(MAX_CONCURRENT_RELEASES, toRelease, (lumigo) => attempt(lumigo, release(options, lumigo)));
  return listLumigoes(client);
}

/**
 * Removes the injections that are left when no `Lumigo` exists: of workloads that opted in by label, and of those that refused to
 * change before. Returns a sentence for each workload that refuses until the deadline.
 */
async function cleanRest(
  options: UninstallOptions,
  isKept: (workload: Workload) => boolean,
): Promise<readonly string[]> {
  const { client, print, installed, deadline } = options;
  const wanted = (workload: Workload): boolean => !isToStay(workload) && !isKept(workload);
  if (!(await isAnyInstrumented(client, { wanted }))) {
    print('All Lumigo resources are deleted. No workload is instrumented.');
    return [];
  }
  if (installed !== undefined && (await isAnswered(options))) await standDown(client, installed);
  const printed = new Set<string>();
  for (let total = 0; ; await sleep(INTERVAL_MS)) {
    const { removed, problems } = await removeInstrumentation(client, { wanted }, endOf(options));
    total += removed;
    // Helm shows the log of its hook also if Helm's own timeout comes first.
    for (const problem of problems.filter((each) => !printed.has(each))) print(problem);
    problems.forEach((problem) => printed.add(problem));
    if (problems.length > 0 && !isLastLook(deadline)) continue;
    print(`All Lumigo resources are deleted. Removed the injection from ${counted(total, 'more workload')}.`);
    return problems;
  }
}

/** Returns true if the next attempt would come after the deadline. It would lose the reasons that this one found. */
const isLastLook = (deadline: number): boolean => Date.now() + INTERVAL_MS >= deadline;

const endOf = ({ deadline, until = deadline }: UninstallOptions): number => Math.max(deadline, until);
const keyOf = ({ metadata }: LumigoResource): string => `${metadata.namespace}/${metadata.name}`;
const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
const count = (left: readonly LumigoResource[]): string => counted(left.length, 'Lumigo resource');

async function listLumigoes(client: Client): Promise<LumigoResource[]> {
  const found: LumigoResource[] = [];
  try {
    for await (const { items } of client.pages(contract, { limit: 500 }))
      found.push(...(items as unknown as LumigoResource[]).map(withoutLabels));
  } catch (error) {
    // Without the CRD there is no Lumigo.
    if (!isNotFound(error)) throw error;
  }
  return found;
}

/** Labels, annotations and managed fields are as large as a tenant makes them. */
function withoutLabels(lumigo: LumigoResource): LumigoResource {
  const { labels: _labels, annotations: _annotations, managedFields: _fields, ...metadata } = lumigo.metadata;
  return { ...lumigo, metadata: metadata as LumigoResource['metadata'] };
}

const deleteLumigo = (client: Client, { metadata: { namespace, name, uid } }: LumigoResource): Promise<void> =>
  client.delete({ ...contract, namespace, name }, { preconditions: { uid } });

/** Does what the manager would do for a `Lumigo` that is being deleted: follows its settings, then removes its finalizer. */
async function release(options: UninstallOptions, lumigo: LumigoResource): Promise<readonly string[]> {
  const { client, print } = options;
  const { namespace } = lumigo.metadata;
  const policy = policyOf([lumigo]);
  if (policy.state === 'deleting' && policy.remove) {
    const wanted = (workload: Workload) => !isOptedIn(workload);
    const { removed, problems } = await removeInstrumentation(client, { namespace, wanted }, endOf(options));
    if (removed > 0)
      print(`No operator is running. Removed the injection from ${counted(removed, 'workload')} of '${namespace}'.`);
    if (problems.length > 0) return problems;
  }
  await removeLumigoFinalizer(client, lumigo);
  return [];
}

const removeLumigoFinalizer = (client: Client, { metadata }: LumigoResource): Promise<void> => {
  const { namespace, name } = metadata;
  return removeFinalizer(client, { ...contract, namespace, name }, metadata, contract.finalizer);
};

const isAnswered = async ({ client, installed, isLast = false }: UninstallOptions): Promise<boolean> =>
  installed !== undefined && !isLast && (await isLed(client, installed));
