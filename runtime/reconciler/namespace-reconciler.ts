import type { Logger } from 'pino';
import type { LumigoResource, NamespacePolicy } from '../injection/types.ts';
import type { LumigoStore } from '../lumigo-store.ts';
import { isConflict, isNotFound } from '../kubernetes/errors.ts';
import { readCredential, type ReadSecret } from '../credential.ts';
import type { Problem } from '../problem.ts';
import { statusOf } from './conditions.ts';
import { summarize } from './instrumented.ts';
import type { LumigoWriter } from './lumigo-writer.ts';
import { credentialDueMs, newNamespaceState, type NamespaceState } from './namespace-state.ts';
import { needsInspection } from './plan.ts';
import { problemOf } from './problems.ts';
import { isInstrumented, type WorkloadRecord, type WorkloadStore } from './workload-store.ts';

export interface NamespaceReconcilerOptions {
  readonly lumigoes: LumigoStore;
  readonly workloads: WorkloadStore;
  readonly writer: LumigoWriter;
  readonly readSecret: ReadSecret;
  /** Reads a Lumigo with all of its status. */
  readonly readLumigo: (lumigo: LumigoResource) => Promise<LumigoResource>;
  /** Hands a workload over to be changed. */
  readonly request: (record: WorkloadRecord) => void;
  readonly pending: (namespace: string) => number;
  /** Tells of an instrumentation that an earlier leader listed and that is gone now. */
  readonly onVanished: (record: WorkloadRecord) => Promise<void>;
  readonly webhook: () => Problem | 'reachable' | undefined;
  readonly telemetry: () => Problem | 'working' | undefined;
  readonly removalDeadlineMs: number;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** How long after a Lumigo is gone its namespace is still cleaned: a webhook replica may have been a moment behind. */
const AFTERGLOW_MS = 30_000;
/** How soon a deletion that waits for workloads is looked at again, should nobody call before. */
const WAIT_MS = 1_000;

const CONFLICT_MS = 200;

const secretOf = ({ spec }: LumigoResource) => spec?.lumigoToken?.secretRef;

type Requeue = { requeueAfterMs?: number } | undefined;

/** Brings one namespace to where its Lumigo resources want it; looks at everything anew each time it is called. */
export class NamespaceReconciler {
  readonly #options: NamespaceReconcilerOptions;
  readonly #states = new Map<string, NamespaceState>();
  readonly #afterglow = new Map<string, number>();

  constructor(options: NamespaceReconcilerOptions) {
    this.#options = options;
  }

  /** What holds for the workloads of a namespace now. */
  policy(namespace: string): NamespacePolicy {
    const policy = this.#options.lumigoes.policy(namespace);
    if (policy.state !== 'none' || (this.#afterglow.get(namespace) ?? 0) <= this.#options.now()) return policy;
    return { state: 'deleting', lumigo: 'deleted', remove: true };
  }

  async reconcile(namespace: string): Promise<Requeue> {
    try {
      return await this.#look(namespace);
    } catch (error) {
      // Somebody changed a Lumigo just now; the watch is about to show it.
      if (isConflict(error) || isNotFound(error)) return { requeueAfterMs: CONFLICT_MS };
      throw error;
    }
  }

  async #look(namespace: string): Promise<Requeue> {
    const { lumigoes } = this.#options;
    const acting = lumigoes.acting(namespace);
    if (acting === undefined) return this.#rest(namespace);
    this.#afterglow.delete(namespace);
    const state = this.#states.get(namespace) ?? newNamespaceState();
    this.#states.set(namespace, state);
    await this.#adopt(acting, state);
    for (const lumigo of lumigoes.in(namespace)) await this.#tend(lumigo, acting, state);
    if (acting.metadata.deletionTimestamp !== undefined) return this.#remove(acting, state);
    for (const lumigo of lumigoes.in(namespace)) await this.#writeStatus(lumigo, acting, state);
    this.plan(namespace);
    return { requeueAfterMs: this.#untilCredentialDue(state) };
  }

  /** Hands over every workload of the namespace that may need a change under the policy that holds now. */
  plan(namespace: string): void {
    const { workloads, request } = this.#options;
    const policy = this.policy(namespace);
    const state = this.#states.get(namespace);
    const text = JSON.stringify(policy);
    const changed = state !== undefined && state.plannedPolicy !== text;
    if (state !== undefined) state.plannedPolicy = text;
    for (const record of workloads.in(namespace)) {
      if (changed) record.settled = false;
      if (!record.changing && needsInspection(record, policy)) request(record);
    }
  }

  /** A namespace without a Lumigo, or without one any more. */
  #rest(namespace: string): Requeue {
    this.#states.delete(namespace);
    this.plan(namespace);
    const until = this.#afterglow.get(namespace);
    if (until === undefined) return undefined;
    if (until > this.#options.now()) return { requeueAfterMs: until - this.#options.now() + 1 };
    this.#afterglow.delete(namespace);
    return undefined;
  }

  /** Takes over what an earlier leader wrote into the status: since when each workload is instrumented, and what it did not get to tell. */
  async #adopt(acting: LumigoResource, state: NamespaceState): Promise<void> {
    if (state.adopted) return;
    const { readLumigo, writer, workloads, onVanished } = this.#options;
    const whole = await readLumigo(acting);
    const listed = new Map(
      whole.status?.instrumentedResources?.map(({ uid, resourceVersion }) => [uid, resourceVersion]),
    );
    for (const record of workloads.in(acting.metadata.namespace)) {
      const version = listed.get(record.uid);
      if (version === undefined) continue;
      record.instrumentedVersion ??= version;
      if (!isInstrumented(record) && record.stamp === undefined) await onVanished(record);
    }
    writer.adopt(whole);
    state.adopted = true;
  }

  /** Finalizers, and the credential of the one that acts; one that does not act holds nothing up when it is deleted. */
  async #tend(lumigo: LumigoResource, acting: LumigoResource, state: NamespaceState): Promise<void> {
    const { writer } = this.#options;
    const acts = lumigo.metadata.uid === acting.metadata.uid;
    const deleting = lumigo.metadata.deletionTimestamp !== undefined;
    if (deleting && !acts) return writer.removeFinalizer(lumigo);
    if (deleting) return;
    await writer.addFinalizer(lumigo);
    if (acts) await this.#checkCredential(lumigo, state);
  }

  async #checkCredential(lumigo: LumigoResource, state: NamespaceState): Promise<void> {
    const { now, readSecret } = this.#options;
    const reference = secretOf(lumigo);
    const specText = JSON.stringify(reference ?? null);
    const known = state.credential?.specText === specText ? state.credential : undefined;
    if (known !== undefined && this.#untilCredentialDue(state) > 0) return;
    const { problem } = await readCredential(readSecret, lumigo.metadata.namespace, reference);
    const failures = problem === undefined ? 0 : (known?.failures ?? 0) + 1;
    state.credential = { specText, problem, checkedAt: now(), failures };
  }

  /** The Secret changed: the next look reads it again. */
  recheckCredential(namespace: string): void {
    const state = this.#states.get(namespace);
    if (state !== undefined) state.credential = undefined;
  }

  #untilCredentialDue({ credential }: NamespaceState): number {
    if (credential === undefined) return 0;
    return Math.max(0, credential.checkedAt + credentialDueMs(credential.failures) - this.#options.now());
  }

  /** The acting Lumigo is being deleted and nobody succeeds it: once nothing is left to remove, or time is up, it may go. */
  async #remove(acting: LumigoResource, state: NamespaceState): Promise<Requeue> {
    const { namespace, name, deletionTimestamp = '' } = acting.metadata;
    const { workloads, writer, logger, now, removalDeadlineMs } = this.#options;
    const policy = this.policy(namespace);
    this.plan(namespace);
    const waiting = [...workloads.in(namespace)].filter((record) => record.changing || needsInspection(record, policy));
    const overdue = now() > Date.parse(deletionTimestamp) + removalDeadlineMs;
    if (waiting.length > 0 && !overdue) {
      await this.#writeStatus(acting, acting, state);
      return { requeueAfterMs: WAIT_MS };
    }
    if (waiting.length > 0)
      logger.error(
        {
          namespace,
          lumigo: name,
          workloads: waiting.map(({ kind, name: workload }) => `${kind.kind}/${workload}`).slice(0, 20),
        },
        'workloads stay instrumented: they could not be updated in time',
      );
    await writer.removeFinalizer(acting);
    if (policy.state === 'deleting' && policy.remove) this.#afterglow.set(namespace, now() + AFTERGLOW_MS);
    logger.info({ namespace, lumigo: name }, 'Lumigo released');
    return { requeueAfterMs: 0 };
  }

  async #writeStatus(lumigo: LumigoResource, acting: LumigoResource, state: NamespaceState): Promise<void> {
    const { lumigoes, workloads, writer, pending, webhook, telemetry, now } = this.#options;
    const { namespace, generation, deletionTimestamp, uid } = lumigo.metadata;
    const acts = uid === acting.metadata.uid;
    const waiting = acts ? pending(namespace) : 0;
    const standing = { acting, excluded: lumigoes.isExcluded(namespace), credential: state.credential?.problem };
    const status = statusOf(
      {
        ...summarize(acts ? workloads.in(namespace) : []),
        generation,
        deleting: deletionTimestamp !== undefined,
        problem: problemOf(lumigo, standing),
        pending: waiting,
        webhook: acts ? webhook() : undefined,
        telemetry: acts ? telemetry() : undefined,
        now: new Date(now()).toISOString().replace(/\.\d+Z$/, 'Z'),
      },
      lumigo.status,
    );
    await writer.writeStatus(lumigo, status, waiting === 0);
  }
}
