import type { Term } from './term.ts';

/** Planning takes at most this share of the time: a plan that took 2 ms is not made again for 80 ms. */
const SHARE = 1 / 40;
/** What happens together is planned together. */
const SHORTEST_MS = 10;
/** Timers cannot be set for longer. */
const LONGEST_MS = 24 * 3_600_000;
/** While what is known of the Lumigo resources is out of date nothing is planned. */
const BEHIND_MS = 300;

/** Has each namespace planned soon after something was seen of it, and not more often than it is worth. */
export class Planner {
  private readonly signal: AbortSignal;
  private readonly lumigoesRead: Term['lumigoesRead'];
  private readonly appointments = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  /** By namespace, until when it rests after its last plan. */
  private readonly restUntil = new Map<string, number>();

  /** `plan`: plans and begins what is planned; returns when to plan again should nothing happen before, by the monotonic clock. */
  constructor(
    private readonly plan: (namespace: string) => number,
    { signal, lumigoesRead }: Pick<Term, 'signal' | 'lumigoesRead'>,
  ) {
    this.signal = signal;
    this.lumigoesRead = lumigoesRead;
    signal.addEventListener('abort', () => {
      for (const { timer } of this.appointments.values()) clearTimeout(timer);
      this.appointments.clear();
    });
  }

  /** Something of the namespace was seen. */
  request(namespace: string): void {
    this.appoint(namespace, Math.max(performance.now() + 1, this.restUntil.get(namespace) ?? 0));
  }

  private appoint(namespace: string, at: number): void {
    if (this.signal.aborted || at === Infinity) return;
    const before = this.appointments.get(namespace);
    if (before !== undefined && before.at <= at) return;
    if (before !== undefined) clearTimeout(before.timer);
    const inMs = Math.min(Math.max(0, at - performance.now()), LONGEST_MS);
    const timer = setTimeout(() => this.keep(namespace), inMs);
    this.appointments.set(namespace, { at, timer });
  }

  private keep(namespace: string): void {
    this.appointments.delete(namespace);
    const started = performance.now();
    if (!this.lumigoesRead.isCurrent) {
      void this.lumigoesRead.catchUp(0);
      return this.appoint(namespace, started + BEHIND_MS);
    }
    const wakeAt = this.plan(namespace);
    const ended = performance.now();
    const restUntil = ended + Math.max(SHORTEST_MS, (ended - started) / SHARE);
    this.restUntil.set(namespace, restUntil);
    setTimeout(() => this.rested(namespace, restUntil), restUntil - ended).unref();
    this.appoint(namespace, Math.max(wakeAt, restUntil));
  }

  /** Namespaces come and go. */
  private rested(namespace: string, restUntil: number): void {
    if (this.restUntil.get(namespace) === restUntil) this.restUntil.delete(namespace);
  }
}
