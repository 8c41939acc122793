import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { effectiveLumigo } from '../injection/policy.ts';
import { getLease, type Installed } from '../installation/installation.ts';
import { lookAtLease } from '../installation/leader.ts';
import { readAndChange, type Client } from '../kubernetes/http/client.ts';
import { isNotFound, isRefusal, undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { heldSpec, type Lease, type SeenLease } from '../kubernetes/lease/plan-lease.ts';
import { removeFinalizer } from '../kubernetes/resources/finalizers.ts';
import { essentialLumigo } from '../lumigo/essential-lumigo.ts';
import { lumigoRef } from '../lumigo/lumigo-store.ts';
import { abridged } from '../wording/abridged.ts';
import { describeError } from '../wording/errors.ts';
import { once } from '../wording/once.ts';
import { isLeaving } from './protected-objects.ts';
import { isAnyInstrumented, listInjectedJobs, MAX_NAMED, removeInstrumentation } from './remove-instrumentation.ts';

export interface UninstallOptions {
  readonly client: Client;
  /** Default: `client`. The manager's right to its Lease may be deleted before its other rights. */
  readonly leases?: Client;
  /** Undefined if no operator is left whose manager could answer. */
  readonly installed: Installed | undefined;
  /** Failed changes are retried until then (by Date.now). */
  readonly deadline: number;
  /** Changes may begin until then, which is not before the deadline. Default: the deadline. */
  readonly until?: number;
  readonly print: (line: string) => void;
  /** The manager has lost its rights, so it removes nothing although it leads. */
  readonly isHelpless?: boolean;
  /** The caller is the last one, and no manager answers. At the deadline, it releases stuck `Lumigo` resources. */
  readonly isLast?: boolean;
}

const INTERVAL_MS = 1_000;
/** Helm ends its hook within a minute after the deadline, and its log with it. */
const NAMING_MS = 10_000;
const MAX_CONCURRENT = 8;
/** The removal deletes the operator's Deployment within this time, or holds the Lease again. */
const HELD_MS = 120_000;
/** A leader renews its Lease every 5 s, and then notices. */
const NOTICE_MS = 6_000;

/**
 * Deletes every `Lumigo` resource, and waits until no injection is left. If no manager leads, it removes the injections
 * itself. Returns a line for each object that is stuck at the deadline.
 */
export async function uninstall(options: UninstallOptions): Promise<readonly string[]> {
  const { print, deadline, isLast } = options;
  // Helm shows the log of its hook also if Helm's own timeout comes first.
  const printOnce = once(print);
  const cleaner = new Cleaner(options);
  for (; ; await sleep(INTERVAL_MS)) {
    const removed = await cleaner.round();
    const { left = [], problems } = cleaner;
    problems.forEach(printOnce);
    if (left.length > 0)
      printOnce(`Waiting for ${counted(left.length, 'Lumigo resource')}: ${abridged(left.map(toKey), MAX_NAMED)}`);
    else if (problems.length === 0 && (removed === 0 || isLast)) {
      print('No Lumigo resource is left, and no injection to remove.');
      if (isLast !== true) await nameJobs(options);
      return [];
    }
    // The next attempt would end after the deadline, and lose the reasons that this one found.
    if (Date.now() + INTERVAL_MS < deadline) continue;
    const stuck = await cleaner.end();
    return stuck.length > 0 ? stuck : ['workloads had the injection until the deadline. Run the command again'];
  }
}

class Cleaner {
  readonly kept = new Set<string>();
  readonly traced = new Set<string>();
  /** Undefined before the first list. */
  left: readonly LumigoResource[] | undefined;
  /** Those of the last round. */
  problems: readonly string[] = [];
  private failures = new Map<string, string>();
  private stepDownAt = -Infinity;
  private seen: SeenLease | undefined;

  constructor(private readonly options: UninstallOptions) {}

  /** Returns the number of cleaned workloads. After the first list, one that fails must not leave the rest undone. */
  async round(): Promise<number> {
    const { client, print, isLast, deadline, until = deadline } = this.options;
    this.problems = [];
    this.failures = new Map();
    try {
      this.left = (await listLumigoes(client).catch(undefinedIfNotFound)) ?? [];
      await this.deleteAll(this.left);
      if (await this.isLeftToManager(this.left)) return 0;
      const { removed, problems, unclean } = await removeInstrumentation(client, this, until);
      const clean = this.left.filter((lumigo) => isLeaving(lumigo) && !unclean.has(lumigo.metadata.namespace));
      await this.attempt(clean, (lumigo) => removeLumigoFinalizer(client, lumigo));
      if (removed > 0) print(`Removed the injection from ${counted(removed, 'workload')}.`);
      this.problems = problems;
      return removed;
    } catch (error) {
      if (isRefusal(error) || (this.left === undefined && !isLast)) throw error;
      this.problems = [`The last attempt failed: ${describeError(error)}`];
      return 0;
    }
  }

  /** Returns why the rest is stuck. The last caller releases it. Another one names the workloads left to a manager. */
  async end(): Promise<readonly string[]> {
    const { left = [], problems, options } = this;
    if (options.isLast) await this.attempt(left, (lumigo) => removeLumigoFinalizer(options.client, lumigo));
    const stuck = left.map((lumigo) => whyStuck(lumigo, this.failures.get(toKey(lumigo))));
    if (options.isLast || problems.length > 0) return [...stuck, ...problems];
    try {
      const found = await removeInstrumentation(options.client, this, 0, AbortSignal.timeout(NAMING_MS));
      return [...stuck, ...found.problems];
    } catch (error) {
      return [...stuck, `The workloads that are left could not be listed: ${describeError(error)}`];
    }
  }

  private async deleteAll(left: readonly LumigoResource[]): Promise<void> {
    const { client, print } = this.options;
    // Decided at first sight, because the acting `Lumigo` may be the first that is gone. It has its spec (lumigo/).
    for (const { namespace } of left.map(({ metadata }) => metadata)) {
      if (this.traced.has(namespace)) continue;
      this.traced.add(namespace);
      const acting = effectiveLumigo(left.filter(({ spec, metadata }) => spec && metadata.namespace === namespace));
      if (acting?.spec?.tracing?.injection?.removeLumigoFromResourcesOnDeletion === false) this.kept.add(namespace);
    }
    const present = left.filter((lumigo) => !isLeaving(lumigo));
    if (present.length > 0) print(`Deleting ${counted(present.length, 'Lumigo resource')}.`);
    await this.attempt(present, ({ metadata: { namespace, name, uid } }) =>
      client.delete({ ...contract, namespace, name }, { preconditions: { uid } }),
    );
  }

  /** A leader works off the `Lumigo` resources. It would inject again what asks for it, so it must not lead after that. */
  private async isLeftToManager(left: readonly LumigoResource[]): Promise<boolean> {
    const { client, leases = client, installed, isLast, isHelpless } = this.options;
    if (installed === undefined || isLast || performance.now() <= this.stepDownAt) return false;
    const { seen, isHeld } = await lookAtLease(leases, getLease(installed), this.seen);
    this.seen = seen;
    if (!isHeld) return false;
    if (left.length > 0 ? !isHelpless : !(await isAnyInstrumented(client))) return true;
    await stepDown(leases, installed);
    this.stepDownAt = performance.now() + HELD_MS / 2;
    return false;
  }

  private attempt(lumigoes: readonly LumigoResource[], act: (lumigo: LumigoResource) => Promise<void>): Promise<void> {
    return forEachConcurrent(MAX_CONCURRENT, lumigoes, (lumigo) =>
      act(lumigo).catch((error: unknown) => {
        if (!isNotFound(error)) this.failures.set(toKey(lumigo), describeError(error));
      }),
    );
  }
}

/** They do not count as left, because only their end or their deletion changes that (ADR 73). */
async function nameJobs({ client, print }: UninstallOptions): Promise<void> {
  try {
    const jobs = await listInjectedJobs(client, AbortSignal.timeout(NAMING_MS));
    if (jobs.length > 0)
      print(`Jobs cannot change, and these keep the injection until they end: ${abridged(jobs, MAX_NAMED)}`);
  } catch (error) {
    print(`The Jobs that keep the injection could not be listed: ${describeError(error)}`);
  }
}

const toKey = ({ metadata }: LumigoResource): string => `${metadata.namespace}/${metadata.name}`;
const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

export function whyStuck(lumigo: LumigoResource, failure?: string): string {
  const { finalizers = [] } = lumigo.metadata;
  const foreign = finalizers.filter((finalizer) => finalizer !== contract.finalizer);
  const reasons = isLeaving(lumigo) ? [] : ['it could not be deleted'];
  if (foreign.length > 0) reasons.push(`finalizers of other controllers keep it: ${foreign.join(', ')}`);
  if (failure !== undefined) reasons.push(failure);
  return `${toKey(lumigo)}: ${reasons.join('; ') || 'the injection is still being removed from its workloads'}`;
}

/** Takes the leader's Lease, because the leader would inject again into cleaned workloads that opted in by label. */
async function stepDown(client: Client, installed: Installed): Promise<void> {
  const ref = getLease(installed);
  const read = (): Promise<Lease> => client.get(ref);
  await readAndChange(undefined, read, (lease) => {
    const spec = heldSpec(lease.spec, 'uninstall', { leaseDurationMs: HELD_MS }, new Date());
    return client.update(ref, { ...lease, spec });
  });
  await sleep(NOTICE_MS);
}

async function listLumigoes(client: Client): Promise<LumigoResource[]> {
  const found: LumigoResource[] = [];
  for await (const { items } of client.pages(contract, { limit: 500 }))
    found.push(...(items as unknown as LumigoResource[]).map(bounded));
  return found;
}

/** A tenant decides the size of the rest. The finalizers are only named, and read again before one is removed. */
export function bounded(lumigo: LumigoResource): LumigoResource {
  const { metadata, ...rest } = essentialLumigo(lumigo);
  const { finalizers = [] } = lumigo.metadata;
  return { ...rest, metadata: { ...metadata, finalizers: finalizers.slice(0, MAX_NAMED) } };
}

const removeLumigoFinalizer = (client: Client, lumigo: LumigoResource): Promise<void> =>
  removeFinalizer(client, lumigoRef(lumigo), undefined, contract.finalizer);
