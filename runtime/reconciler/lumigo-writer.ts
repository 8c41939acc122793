import { backoffMs } from '../async/retrying.ts';
import { describeError } from '../wording/errors.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { askedWaitMs, isConflict, isNotFound } from '../kubernetes/http/errors.ts';
import { changed, turnedFalse } from './describe-events.ts';
import { LumigoStates } from './lumigo-states.ts';
import { isInstrumented, type ObservedLumigo } from './observed.ts';
import type { LumigoAction } from './plan-status.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

type Action<D extends LumigoAction['kind']> = Extract<LumigoAction, { readonly kind: D }>;

/** The watch soon reports the other writer's change, so a conflict counts little. But one that never pauses must not stop a removal. */
const CONFLICT = { ms: 200, count: 1 / 8 };
/** Per namespace, so that one tenant's `Lumigo` resources do not take every connection. */
const MAX_CONCURRENT_WRITES = 2;
const MAX_NAMES_SHOWN = 20;
const CONTESTED =
  'another client changes the status of the Lumigo resource, or its definition is older. Writing it less often';

const toFields = ({ metadata }: LumigoResource) => ({ namespace: metadata.namespace, lumigo: metadata.name });

export class LumigoWriter {
  readonly states = new LumigoStates();

  constructor(private readonly term: ReconcilerContext) {}

  begin(actions: readonly LumigoAction[], observed: readonly ObservedLumigo[]): void {
    const busy = observed.filter(({ isBusy }) => isBusy).length;
    for (const action of actions.slice(0, Math.max(0, MAX_CONCURRENT_WRITES - busy))) void this.act(action);
  }

  private async act(action: LumigoAction): Promise<void> {
    const { signal, enqueue } = this.term;
    this.states.note(action.lumigo, { isBusy: true });
    try {
      await this.carryOut(action);
      this.states.note(action.lumigo, { isBusy: false, failure: undefined });
    } catch (error) {
      if (!signal.aborted) this.failed(action, error);
    }
    if (!signal.aborted) enqueue(action.lumigo.metadata.namespace);
  }

  private async carryOut(action: LumigoAction): Promise<void> {
    const { api, lumigoes } = this.term;
    if (action.kind === 'adopt') return this.adopt(action.lumigo);
    if (action.kind === 'write-status') return this.writeStatus(action);
    lumigoes.update(await api.writeFinalizer(action.lumigo, action.kind === 'add-finalizer'));
    if (action.kind === 'remove-finalizer') this.released(action);
  }

  /** Takes over the list of an earlier leader, and reports removals that it did not report. */
  private async adopt(lumigo: LumigoResource): Promise<void> {
    const { api, store, lumigoes, events } = this.term;
    const { namespace } = lumigo.metadata;
    const listed = (await api.readLumigo(lumigo)).status?.instrumentedResources ?? [];
    const entries = new Map(listed.map((each) => [each.uid, each]));
    for (const workload of store.in(namespace)) {
      const entry = entries.get(workload.uid);
      if (entry === undefined) continue;
      const { resourceVersion: instrumentedVersion, telemetry, telemetrySince } = entry;
      const updated = store.update(workload, { instrumentedVersion, telemetry, telemetrySince });
      if (updated !== undefined && updated.injectionStatus === undefined && !isInstrumented(updated))
        events.add(changed(updated, lumigoes.policy(namespace), 'removed'));
    }
    this.states.note(lumigo, { listed });
  }

  private async writeStatus({ lumigo, status, withList, repeats }: Action<'write-status'>): Promise<void> {
    const { api, lumigoes, events, logger } = this.term;
    if (repeats === 1) logger.warn(toFields(lumigo), CONTESTED);
    const { instrumentedResources: listed = [], ...lastStatus } = status;
    // A merge patch removes a field that is null.
    const ended = lumigo.status?.injector !== undefined && status.injector === undefined ? { injector: null } : {};
    lumigoes.update(await api.mergeStatus(lumigo, { ...(withList ? status : lastStatus), ...ended }));
    for (const event of turnedFalse(lumigo, status)) events.add(event);
    const statusAt = performance.now();
    const list = withList ? { listed, listedAt: statusAt } : {};
    this.states.note(lumigo, { statusAt, lastStatus, repeats, ...list });
  }

  private released({ lumigo, leftBehind, reason }: Action<'remove-finalizer'>): void {
    const { logger } = this.term;
    logger.info({ ...toFields(lumigo), reason }, 'removed the cleanup finalizer from the Lumigo resource');
    if (leftBehind.length === 0) return;
    const workloads = leftBehind.slice(0, MAX_NAMES_SHOWN).map((each) => `${each.kind.kind}/${each.name}`);
    const message = 'workloads stay instrumented because their changes are rejected, retrying';
    logger.error({ ...toFields(lumigo), count: leftBehind.length, workloads }, message);
  }

  private failed({ kind: action, lumigo }: LumigoAction, error: unknown): void {
    const count = (this.states.find(lumigo)?.failure?.count ?? 0) + (isConflict(error) ? CONFLICT.count : 1);
    const isExpected = isConflict(error) || isNotFound(error);
    const waitMs = isExpected ? CONFLICT.ms : backoffMs(count, { maxMs: 5 * 60_000, atLeastMs: askedWaitMs(error) });
    this.states.note(lumigo, { isBusy: false, failure: { count, retryAt: performance.now() + waitMs } });
    const fields = { ...toFields(lumigo), action, problem: describeError(error) };
    if (!isExpected) this.term.logger.warn(fields, 'cannot write the Lumigo resource, retrying');
  }
}
