import { retrying } from '../async/retrying.ts';
import { Places } from '../async/places.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { workloads, type WorkloadKind } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { ByteBudget } from '../kubernetes/http/byte-budget.ts';
import type { WorkloadChanger } from './change-workload.ts';
import type { WorkloadChange } from './plan-rollout.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

interface Term extends Pick<ReconcilerContext, 'logger' | 'signal'> {
  readonly api: Pick<ReconcilerContext['api'], 'pages'>;
  readonly config: Pick<RuntimeConfig, 'rolloutConcurrent' | 'rolloutConcurrentPerNamespace' | 'rolloutSettleSeconds'>;
}

type ByName = Map<string, WorkloadChange>;

/** From this number of workloads on, one list costs less than single reads. */
const WORTH_A_LIST = 8;
/** Bytes of pages in use by all groups. Parsed they take about four times as much. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

export class Executor {
  private readonly groups = new Map<string, ByName>();
  private readonly held = new ByteBudget(MAX_HELD_BYTES);
  /** Limits concurrent changes. Otherwise a new `Lumigo` would restart all workloads at once. */
  private readonly places: Places;

  constructor(
    private readonly term: Term,
    private readonly changer: Pick<WorkloadChanger, 'change'>,
  ) {
    const { rolloutConcurrent: all, rolloutConcurrentPerNamespace: perGroup } = term.config;
    this.places = new Places({ all, perGroup });
  }

  plan(namespace: string, changes: readonly WorkloadChange[]): void {
    for (const kind of workloads) {
      const group = `${namespace}/${kind.kind}`;
      const planned = changes.filter(({ workload }) => workload.kind.kind === kind.kind);
      const known = this.groups.get(group);
      const waiting: ByName = known ?? new Map();
      waiting.clear();
      for (const change of planned) waiting.set(change.workload.name, change);
      if (known !== undefined || planned.length === 0) continue;
      this.groups.set(group, waiting);
      // The next turn of the event loop sees everything that was planned together.
      setImmediate(() => void this.drain(waiting, kind, namespace).then(() => this.groups.delete(group)));
    }
  }

  private async drain(waiting: ByName, kind: WorkloadKind, namespace: string): Promise<void> {
    const { logger, signal } = this.term;
    const fields = { namespace, kind: kind.kind };
    const work = () => this.workOff(waiting, kind, namespace);
    while (waiting.size > 0 && !signal.aborted)
      await retrying(work, { signal, logger, failure: 'cannot list workloads, retrying', fields });
  }

  private async workOff(waiting: ByName, kind: WorkloadKind, namespace: string): Promise<void> {
    const isWorthAList = waiting.size >= WORTH_A_LIST;
    // A few are extended by later plans. Many are not, because another list may be worth it by then.
    const names = isWorthAList ? [...waiting.keys()] : waiting.keys();
    for await (const { workloads: page, bytes } of isWorthAList ? this.term.api.pages(kind, namespace) : []) {
      const release = this.held.takeNow(bytes);
      if (release === undefined) break;
      for (const workload of page) await this.admit(waiting, workload.metadata.name ?? '', namespace, workload);
      release();
    }
    // The list lacks workloads that are deleted, new, or had no room. They are read one by one.
    for (const name of names) await this.admit(waiting, name, namespace);
  }

  private async admit(waiting: ByName, name: string, namespace: string, fresh?: Workload): Promise<void> {
    const { config, signal } = this.term;
    if (!waiting.has(name)) return;
    const leave = await this.places.enter(namespace);
    const planned = waiting.get(name);
    waiting.delete(name);
    if (planned === undefined || signal.aborted) return leave(0);
    const isSame = fresh?.metadata.uid === planned.workload.uid;
    // A changed workload keeps its place while its pods are replaced, unless the rollout waits for them.
    const settleMs = planned.task === undefined ? config.rolloutSettleSeconds * 1_000 : 0;
    void this.changer.change(planned, isSame ? fresh : undefined).then((changed) => leave(changed ? settleMs : 0));
  }
}
