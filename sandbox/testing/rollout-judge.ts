import { workloads } from '../../runtime/contract.ts';
import { noteOf, type RolloutNote } from '../../runtime/injection/rollout-note.ts';
import { stampOf, type Stamp } from '../../runtime/injection/stamp.ts';
import { isInjected } from '../../runtime/injection/remove.ts';
import type { Workload } from '../../runtime/injection/types.ts';
import { templateOf } from '../../runtime/injection/workload.ts';

const [deployment] = workloads;

/** A workload as the API server shows it. */
export interface Seen {
  readonly name: string;
  readonly workload: Workload;
  readonly stamp: Stamp | undefined;
  readonly note: RolloutNote | undefined;
  readonly template: string;
  readonly isInjected: boolean;
}

/** What was done to a workload, and is known without looking. Times are milliseconds since 1970. */
export interface Known {
  /** Its pod template as its user wrote it: the present one, and the one before while it is being changed. */
  templates: readonly string[];
  /** When it was last asked for another try, or got another template. */
  releasedAt: number;
  /** Since when it is paused or fails by itself. */
  blockedSince: number | undefined;
  /** The injection (its stamp's time) whose pods were made, whether they are ready, and until when they were if they are no more. */
  pods: { readonly of: string; readonly ready: boolean; readonly readyUntil?: number } | undefined;
}

/** What is on its way when the operator decides, and what it may not know yet. */
const LATE_MS = 2_000;

const isInjectors = ({ cause }: RolloutNote): boolean => cause.startsWith('Injector');

export function seenOf(object: Workload): Seen {
  const workload = { ...object, apiVersion: deployment.apiVersion, kind: deployment.kind };
  const { metadata } = workload;
  const template = templateOf(workload);
  return {
    ...{ name: metadata.name ?? '', workload, stamp: stampOf(metadata), note: noteOf(metadata) },
    ...{ template: JSON.stringify(template), isInjected: template !== undefined && isInjected(template) },
  };
}

/** What is known of an injection's pods once they have become ready, or are not. */
export const podsAfter = (before: Known['pods'], of: string, ready: boolean): Known['pods'] => ({
  ...{ of, ready },
  ...(!ready && before?.of === of && before.ready && { readyUntil: Date.now() }),
});

/** Notes that hold: nobody has asked for another try of those since. */
export const frozen = (all: readonly Seen[], known: ReadonlyMap<string, Known>): Seen[] =>
  all.filter(({ name, note }) => note !== undefined && (known.get(name)?.releasedAt ?? 0) < Date.parse(note.at));

/** Whether a namespace goes no further, of which those are frozen. */
export const isHalted = (found: readonly Seen[]): boolean =>
  found.length >= 2 || found.some(({ note }) => note !== undefined && isInjectors(note));

/** How one state follows upon another, against what was done: every sentence says what must not be. */
export class RolloutJudge {
  private before: ReadonlyMap<string, Seen> = new Map();
  /** Workloads whose pods were ready with the injection, since there is a Lumigo. */
  readonly proven = new Set<string>();
  readonly violations: string[] = [];

  constructor(private readonly known: ReadonlyMap<string, Known>) {}

  observe(all: readonly Seen[]): void {
    for (const seen of all) {
      this.judgeTemplate(seen);
      if (seen.isInjected && seen.stamp?.at !== this.before.get(seen.name)?.stamp?.at) this.injected(seen, all);
    }
    this.before = new Map(all.map((seen) => [seen.name, seen]));
  }

  private judgeTemplate({ name, isInjected: is, template }: Seen): void {
    const templates = this.known.get(name)?.templates;
    if (is || templates === undefined || templates.includes(template)) return;
    this.violated(`${name}: ${template} was ${templates.join()}`);
  }

  private violated = (sentence: string): void => void this.violations.push(`${new Date().toISOString()} ${sentence}`);

  private injected({ name, stamp }: Seen, all: readonly Seen[]): void {
    const known = this.known.get(name);
    if (known === undefined || stamp === undefined) return;
    const at = Date.parse(stamp.at);
    const before = this.before.get(name)?.note;
    if (before !== undefined && known.releasedAt < Date.parse(before.at))
      this.violated(`${name} was reverted, and is injected again by the ${stamp.by}`);
    if (stamp.by !== 'controller') return;
    const halts = frozen(
      all.filter((each) => each.name !== name),
      this.known,
    );
    if (isHalted(halts.filter(({ note }) => at - Date.parse(note?.at ?? '') > LATE_MS)))
      this.violated(`${name} is injected where ${halts.map((each) => each.name).join(' and ')} were reverted`);
    if (known.blockedSince !== undefined && at - known.blockedSince > LATE_MS)
      this.violated(`${name} is injected, and is paused or fails`);
    this.waves(all, at);
  }

  /** @param decided when the operator wrote the newest of the injections, in milliseconds since 1970 */
  private waves(all: readonly Seen[], decided: number): void {
    const affected = all.filter(
      ({ name, stamp, isInjected: is }) => is && stamp?.by === 'controller' && !this.isReady(name, stamp.at, decided),
    );
    if (affected.length > Math.max(1, 2 * this.proven.size))
      this.violated(`${affected.map(({ name }) => name).join()} together, after ${this.proven.size} proven`);
  }

  private isReady(name: string, at: string, decided: number): boolean {
    const pods = this.known.get(name)?.pods;
    return pods?.of === at && (pods.ready || decided - (pods.readyUntil ?? -Infinity) <= LATE_MS);
  }
}
