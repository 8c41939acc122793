import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { effectiveLumigo } from '../injection/policy.ts';
import { getLease, type Installed } from '../installation/installation.ts';
import { lookAtLease } from '../installation/leader.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isNotFound, isRefusal } from '../kubernetes/http/errors.ts';
import type { SeenLease } from '../kubernetes/lease/plan-lease.ts';
import { removeFinalizer } from '../kubernetes/resources/finalizers.ts';
import { essentialLumigo } from '../lumigo/essential-lumigo.ts';
import { lumigoRef } from '../lumigo/lumigo-store.ts';
import { describeError } from '../wording/errors.ts';
import { once } from '../wording/once.ts';
import { HELD_MS, stepDown } from './lease.ts';
import { isAnyInstrumented, removeInstrumentation, type Removal } from './remove-instrumentation.ts';

interface UninstallOptions {
  readonly client: Client;
  /** Default: `client`. The manager's right to its Lease may be deleted before its other rights. */
  readonly leases?: Client;
  /** Undefined if no operator is left whose manager could answer. */
  readonly installed: Installed | undefined;
  /** Failed changes are retried until then (by Date.now). */
  readonly deadline: number;
  /** Changes may begin until then, if that is later. */
  readonly until?: number;
  readonly print: (line: string) => void;
  /** The manager has lost its rights, so it removes nothing although it leads. */
  readonly isHelpless?: boolean;
  /** The caller is the last one, and no manager answers. At the deadline, it releases stuck `Lumigo` resources. */
  readonly isLast?: boolean;
}

const INTERVAL_MS = 1_000;
const MAX_NAMES_SHOWN = 5;
/** Helm ends its hook half a minute after the deadline, and its log with it. */
const NAMING_MS = 10_000;
const MAX_CONCURRENT = 8;

/**
 * Deletes every `Lumigo` resource, and waits until no injection is left. If no manager leads, it removes the injections
 * itself. Returns a line for each object that is stuck at the deadline.
 */
export async function uninstall(options: UninstallOptions): Promise<readonly string[]> {
  const { print, deadline, isLast = false } = options;
  // Helm shows the log of its hook also if Helm's own timeout comes first.
  const printOnce = once(print);
  const cleaner = new Cleaner(options);
  for (; ; await sleep(INTERVAL_MS)) {
    const { left, failures, removed, problems } = await cleaner.round();
    problems.forEach(printOnce);
    if (left.length > 0) printOnce(`Waiting for ${counted(left.length, 'Lumigo resource')}: ${getNames(left)}`);
    else if (problems.length === 0 && (removed === 0 || isLast)) {
      print('No Lumigo resource is left, and no injection to remove.');
      return [];
    }
    // The next attempt would end after the deadline, and lose the reasons that this one found.
    if (Date.now() + INTERVAL_MS < deadline) continue;
    const named = await cleaner.end(left, failures, problems);
    const stuck = [...left.map((lumigo) => whyStuck(lumigo, failures.get(toKey(lumigo)))), ...named];
    return stuck.length > 0 ? stuck : ['workloads had the injection until the deadline. Run the command again'];
  }
}

type Failures = Map<string, string>;

class Cleaner {
  /** The workloads of these namespaces keep the injection. */
  readonly kept = new Set<string>();
  /** These namespaces had a `Lumigo`. In others, the original operator injected only workloads that opted in. */
  readonly traced = new Set<string>();
  private stepDownAt = -Infinity;
  private seen: SeenLease | undefined;
  private left: readonly LumigoResource[] | undefined;

  constructor(private readonly options: UninstallOptions) {}

  /** After the first list, one that fails must not leave the rest undone. */
  async round() {
    const { client, print, isLast = false } = this.options;
    try {
      this.left = await listLumigoes(client);
      const failures = await this.deleteAll(this.left);
      const { removed, problems } = await this.clean(this.left, failures);
      if (removed > 0) print(`Removed the injection from ${counted(removed, 'workload')}.`);
      return { left: this.left, failures, removed, problems };
    } catch (error) {
      if (isRefusal(error) || (this.left === undefined && !isLast)) throw error;
      const failures: Failures = new Map();
      return { left: this.left ?? [], failures, problems: [`The last attempt failed: ${describeError(error)}`] };
    }
  }

  /** The last caller releases the rest. Another one adds the names of workloads that were left to a manager. */
  async end(left: readonly LumigoResource[], failures: Failures, problems: readonly string[]) {
    const { client, isLast = false } = this.options;
    if (isLast) await attempt(left, failures, (lumigo) => removeLumigoFinalizer(client, lumigo));
    if (isLast || problems.length > 0) return problems;
    return removeInstrumentation(client, this, 0, AbortSignal.timeout(NAMING_MS)).then(
      (found) => found.problems,
      (error: unknown) => [`The workloads that are left could not be listed: ${describeError(error)}`],
    );
  }

  private async deleteAll(left: readonly LumigoResource[]): Promise<Failures> {
    const { client, print } = this.options;
    // Decided at first sight, because the acting `Lumigo` may be the first that is gone.
    for (const { metadata } of left.filter((each) => !this.traced.has(each.metadata.namespace))) {
      const acting = effectiveLumigo(left.filter((each) => each.metadata.namespace === metadata.namespace));
      this.traced.add(metadata.namespace);
      if (acting?.spec?.tracing?.injection?.removeLumigoFromResourcesOnDeletion === false)
        this.kept.add(metadata.namespace);
    }
    const failures: Failures = new Map();
    const present = left.filter((lumigo) => !isLeaving(lumigo));
    if (present.length > 0) print(`Deleting ${counted(present.length, 'Lumigo resource')}.`);
    await attempt(present, failures, ({ metadata: { namespace, name, uid } }) =>
      client.delete({ ...contract, namespace, name }, { preconditions: { uid } }),
    );
    return failures;
  }

  private async clean(left: readonly LumigoResource[], failures: Failures): Promise<Removal> {
    const { client, deadline, until = deadline } = this.options;
    if (await this.isLeftToManager(left)) return { removed: 0, problems: [], unclean: new Set() };
    const removal = await removeInstrumentation(client, this, Math.max(deadline, until));
    const released = left.filter((lumigo) => isLeaving(lumigo) && !removal.unclean.has(lumigo.metadata.namespace));
    await attempt(released, failures, (lumigo) => removeLumigoFinalizer(client, lumigo));
    return removal;
  }

  /** A leader works off the `Lumigo` resources. It would inject again what asks for it, so it must not lead after that. */
  private async isLeftToManager(left: readonly LumigoResource[]): Promise<boolean> {
    const { client, leases = client, installed, isLast = false, isHelpless = false } = this.options;
    if (installed === undefined || isLast || performance.now() <= this.stepDownAt) return false;
    const { seen, isHeld } = await lookAtLease(leases, getLease(installed), this.seen);
    this.seen = seen;
    if (!isHeld) return false;
    if (left.length > 0 ? !isHelpless : !(await isAnyInstrumented(client))) return true;
    await stepDown(leases, installed);
    this.stepDownAt = performance.now() + HELD_MS / 2;
    return false;
  }
}

async function attempt(
  lumigoes: readonly LumigoResource[],
  failures: Failures,
  act: (lumigo: LumigoResource) => Promise<void>,
): Promise<void> {
  await forEachConcurrent(MAX_CONCURRENT, lumigoes, (lumigo) =>
    act(lumigo).catch((error: unknown) => {
      if (!isNotFound(error)) failures.set(toKey(lumigo), describeError(error));
    }),
  );
}

const isLeaving = ({ metadata }: LumigoResource): boolean => metadata.deletionTimestamp !== undefined;
const toKey = ({ metadata }: LumigoResource): string => `${metadata.namespace}/${metadata.name}`;
const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
const getNames = (left: readonly LumigoResource[]): string =>
  [...left.slice(0, MAX_NAMES_SHOWN).map(toKey), ...(left.length > MAX_NAMES_SHOWN ? ['…'] : [])].join(', ');

export function whyStuck(lumigo: LumigoResource, failure?: string): string {
  const { finalizers = [] } = lumigo.metadata;
  const foreign = finalizers.filter((finalizer) => finalizer !== contract.finalizer);
  const reasons = [
    ...(isLeaving(lumigo) ? [] : ['it could not be deleted']),
    ...(foreign.length > 0 ? [`finalizers of other controllers keep it: ${foreign.join(', ')}`] : []),
    ...(failure === undefined ? [] : [failure]),
  ];
  return `${toKey(lumigo)}: ${reasons.join('; ') || 'the injection is still being removed from its workloads'}`;
}

async function listLumigoes(client: Client): Promise<LumigoResource[]> {
  const found: LumigoResource[] = [];
  try {
    for await (const { items } of client.pages(contract, { limit: 500 }))
      found.push(...(items as unknown as LumigoResource[]).map(bounded));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return found;
}

/** A tenant decides the size of the rest. The finalizers are only named, and read again before one is removed. */
export function bounded(lumigo: LumigoResource): LumigoResource {
  const { metadata, ...rest } = essentialLumigo(lumigo);
  return {
    ...rest,
    metadata: { ...metadata, finalizers: lumigo.metadata.finalizers?.slice(0, MAX_NAMES_SHOWN) ?? [] },
  };
}

const removeLumigoFinalizer = (client: Client, lumigo: LumigoResource): Promise<void> =>
  removeFinalizer(client, lumigoRef(lumigo), undefined, contract.finalizer);
