import type { ReconcilerContext } from './reconciler-context.ts';

/** The share of the processor for plans: one that took 2 ms of it is repeated after 80 ms at the earliest. */
const SHARE = 1 / 40;
/** Changes within this time share one plan. */
const SHORTEST_MS = 10;
const LONGEST_MS = 24 * 3_600_000;
const BEHIND_MS = 300;

const nextTurn = () => new Promise<void>((done) => void setImmediate(done));

export class Planner {
  private readonly appointments = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  private readonly restUntil = new Map<string, number>();
  private lastPlan = Promise.resolve();

  /** `plan` returns when to plan again without a change, by the monotonic clock. */
  constructor(
    private readonly plan: (namespace: string) => number,
    private readonly term: Pick<ReconcilerContext, 'signal' | 'lumigoesRead'>,
  ) {
    term.signal.addEventListener('abort', () => {
      for (const { timer } of this.appointments.values()) clearTimeout(timer);
      this.appointments.clear();
    });
  }

  request(namespace: string): void {
    this.appoint(namespace, Math.max(performance.now() + 1, this.restUntil.get(namespace) ?? 0));
  }

  private appoint(namespace: string, at: number): void {
    const before = this.appointments.get(namespace);
    if (this.term.signal.aborted || at >= (before?.at ?? Infinity)) return;
    clearTimeout(before?.timer);
    const inMs = Math.min(Math.max(0, at - performance.now()), LONGEST_MS);
    // Plans of thousands of namespaces can be due at once, and answers to reviews must not wait for all of them.
    const queue = () => void (this.lastPlan = this.lastPlan.then(nextTurn).then(() => this.keep(namespace)));
    this.appointments.set(namespace, { at, timer: setTimeout(queue, inMs) });
  }

  private keep(namespace: string): void {
    const { signal, lumigoesRead } = this.term;
    this.appointments.delete(namespace);
    const used = process.cpuUsage();
    if (signal.aborted || !lumigoesRead.isCurrent) return this.appoint(namespace, performance.now() + BEHIND_MS);
    const wakeAt = this.plan(namespace);
    const { user, system } = process.cpuUsage(used);
    const ended = performance.now();
    const restUntil = ended + Math.max(SHORTEST_MS, (user + system) / 1_000 / SHARE);
    this.restUntil.set(namespace, restUntil);
    const forget = () => this.restUntil.get(namespace) === restUntil && this.restUntil.delete(namespace);
    setTimeout(forget, restUntil - ended).unref();
    this.appoint(namespace, Math.max(wakeAt, restUntil));
  }
}
