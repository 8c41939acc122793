import { lumigo as contract } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import type { LumigoResource } from '../injection/types.ts';
import { isConflict, isNotFound } from '../kubernetes/http/errors.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import { turnedFalse } from './describe-events.ts';
import type { ObservedLumigo } from './observed.ts';
import type { LumigoAction } from './plan-status.ts';
import type { Term } from './term.ts';

type State = Omit<ObservedLumigo, 'resource'>;

const fresh: State = {
  ...{
    isBusy: false,
    failure: undefined,
    listed: undefined,
    dropsSecretVersion: false,
    statusAt: -Infinity,
    listedAt: 0,
  },
};
const backoff = { firstMs: 500, maxMs: 5 * 60_000 };
/** Somebody else wrote to it just now; the watch is about to show what. */
const CONFLICT_MS = 200;
/** In one namespace: a hundred large Lumigo resources of one tenant must not take every connection. */
const MAX_CONCURRENT_WRITES = 2;
/** How many of the workloads that are left behind a log line names. */
const NAMED = 20;

/** Carries out what is planned for Lumigo resources, one thing at a time for each, and notes what came of it. */
export class LumigoWriter {
  private readonly states = new Map<string, State>();

  /** `onListed` is told of what an earlier leader listed as instrumented: the resourceVersions by uid. */
  constructor(
    private readonly term: Term,
    private readonly onListed: (lumigo: LumigoResource, listed: ReadonlyMap<string, string>) => void,
  ) {}

  observe(resource: LumigoResource): ObservedLumigo {
    return { resource, ...(this.states.get(resource.metadata.uid) ?? fresh) };
  }

  /** Begins what was planned for a namespace, as far as it may; the result of one action plans the others again. Never throws. */
  begin(actions: readonly LumigoAction[], observed: readonly ObservedLumigo[]): void {
    const busy = observed.filter(({ isBusy }) => isBusy).length;
    for (const action of actions.slice(0, Math.max(0, MAX_CONCURRENT_WRITES - busy))) this.act(action);
  }

  private act(action: LumigoAction): void {
    const { signal, enqueue } = this.term;
    const { uid, namespace } = action.lumigo.metadata;
    this.note(uid, { isBusy: true });
    void this.carryOut(action)
      .then(
        () => this.done(uid),
        (error: unknown) => this.failed(action, error),
      )
      .finally(() => {
        if (!signal.aborted) enqueue(namespace);
      });
  }

  /** One that was released is forgotten by then. */
  private done(uid: string): void {
    if (this.states.has(uid)) this.note(uid, { isBusy: false, failure: undefined });
  }

  private async carryOut(action: LumigoAction): Promise<void> {
    const { api, lumigoes } = this.term;
    const { lumigo } = action;
    const others = (lumigo.metadata.finalizers ?? []).filter((each) => each !== contract.finalizer);
    switch (action.do) {
      case 'adopt':
        return this.adopt(lumigo);
      case 'add-finalizer':
        return void lumigoes.upsert(await api.writeFinalizer(lumigo, true));
      case 'remove-finalizer':
        lumigoes.upsert(await api.writeFinalizer(lumigo, false));
        // With its last finalizer it is gone, and the watch may have said so before this answer came.
        if (others.length === 0) lumigoes.delete(lumigo.metadata.namespace, lumigo.metadata.uid);
        return this.released(action);
      case 'write-status':
        return this.writeStatus(action);
    }
  }

  private async adopt(lumigo: LumigoResource): Promise<void> {
    const { status } = await this.term.api.readLumigo(lumigo);
    const listed = status?.instrumentedResources ?? [];
    this.onListed(lumigo, new Map(listed.map((each) => [each.uid, each.resourceVersion])));
    this.note(lumigo.metadata.uid, { listed });
  }

  private async writeStatus({
    lumigo,
    status,
    withList,
    repeats,
  }: LumigoAction & { readonly do: 'write-status' }): Promise<void> {
    const { api, lumigoes, events, logger } = this.term;
    const { namespace, name } = lumigo.metadata;
    if (repeats === 1)
      logger.warn(
        { namespace, lumigo: name },
        'another client changes the status of the Lumigo resource, writing it less often',
      );
    const { instrumentedResources: listed = [], ...rest } = status;
    // A merge takes away what is null.
    const ended = lumigo.status?.injector !== undefined && status.injector === undefined ? { injector: null } : {};
    const answer = await api.mergeStatus(lumigo, { ...(withList ? status : rest), ...ended });
    lumigoes.upsert(answer);
    for (const event of turnedFalse(lumigo, status)) events.add(event);
    const dropsSecretVersion = status.secretVersion !== answer.status?.secretVersion;
    const written = { dropsSecretVersion, statusAt: performance.now(), said: rest, repeats };
    this.note(lumigo.metadata.uid, withList ? { ...written, listed, listedAt: written.statusAt } : written);
  }

  private released({ lumigo, leftBehind, reason }: LumigoAction & { readonly do: 'remove-finalizer' }): void {
    const { logger } = this.term;
    const { namespace, name, uid } = lumigo.metadata;
    this.states.delete(uid);
    logger.info({ namespace, lumigo: name, reason }, 'removed the cleanup finalizer from the Lumigo resource');
    if (leftBehind.length === 0) return;
    const workloads = leftBehind.slice(0, NAMED).map((each) => `${each.kind.kind}/${each.name}`);
    logger.error(
      { namespace, lumigo: name, count: leftBehind.length, workloads },
      'workloads stay instrumented because their changes are rejected, retrying',
    );
  }

  private failed({ do: what, lumigo }: LumigoAction, error: unknown): void {
    const { logger, signal } = this.term;
    const { uid, namespace, name } = lumigo.metadata;
    if (signal.aborted) return;
    const count = (this.states.get(uid)?.failure?.count ?? 0) + 1;
    const isExpected = isConflict(error) || isNotFound(error);
    const waitMs = isExpected ? CONFLICT_MS : backoffMs(count, backoff, Math.random());
    this.note(uid, { isBusy: false, failure: { count, retryAt: performance.now() + waitMs } });
    if (!isExpected)
      logger.warn(
        { namespace, lumigo: name, action: what, problem: describeError(error) },
        'cannot write the Lumigo resource, retrying',
      );
  }

  private note(uid: string, change: Partial<State>): void {
    this.states.set(uid, { ...(this.states.get(uid) ?? fresh), ...change });
  }
}
