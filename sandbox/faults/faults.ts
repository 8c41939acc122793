import * as apiServer from './api-server-faults.ts';
import { fight, fightWithoutWebhook, foreignFinalizer } from './fights.ts';
import type { Fleet } from './fleet.ts';
import { paused, unsynced } from './leadership.ts';
import * as neighbours from './neighbour-faults.ts';
import { clockShifted, killed, lumigoChanges } from './operator-faults.ts';
import type { FaultRun } from './fault-run.ts';

/** One number for `npm test`, and one for `npm run test:faults`. */
type Sizes<P> = { readonly [K in keyof P]: readonly [everyday: number, full: number] };

interface Row<P> {
  readonly name: string;
  readonly holds: string;
  /** Some workloads have pods, and one of them crashes with the injection. */
  readonly pods: boolean;
  readonly sizes: Sizes<P & { readonly workloads: number }>;
  readonly fault: (faultRun: FaultRun, fleet: Fleet, sizes: P) => Promise<unknown>;
}

export interface Fault extends Pick<Row<unknown>, 'name' | 'holds' | 'pods'> {
  readonly inject: (faultRun: FaultRun, isFull: boolean) => Promise<unknown>;
}

const fault = <P>({ sizes, fault: inject, ...row }: Row<P>): Fault => ({
  ...row,
  async inject(faultRun, isFull) {
    const pairs = Object.entries<readonly number[]>(sizes);
    const sized = Object.fromEntries(pairs.map(([name, pair]) => [name, pair[isFull ? 1 : 0]]));
    const { workloads } = sized as { workloads: number };
    return inject(faultRun, await faultRun.fleet(workloads), sized as P);
  },
});

const pods = { pods: true };
const noPods = { pods: false };

/** All faults, by the broken part. Those of a group share a cluster, one after the other. */
export const groups = {
  operator: [
    fault({
      name: 'lumigo-changes',
      fault: lumigoChanges,
      ...pods,
      sizes: { workloads: [60, 500], rounds: [3, 50], pauseMs: [1_000, 2_500] },
      holds: 'F1: a Lumigo that is created, changed and deleted at random moments of bulk work leaves nothing behind',
    }),
    fault({
      name: 'killed',
      fault: killed,
      ...pods,
      sizes: { workloads: [60, 300], kills: [3, 50], worksMs: [4_000, 8_000] },
      holds: 'a manager that is killed at random instants of bulk work loses nothing and repeats nothing',
    }),
    fault({
      name: 'paused',
      fault: paused,
      ...pods,
      sizes: { workloads: [100, 1_000], stoppedMs: [20_000, 40_000], watchedMs: [5_000, 20_000] },
      holds: 'F2: a leader that was stopped beyond its Lease with work in hand writes nothing when it goes on',
    }),
    fault({
      name: 'unsynced-term',
      fault: unsynced,
      ...pods,
      sizes: { workloads: [30, 300], watchedMs: [8_000, 20_000] },
      holds:
        'F2: a term that is lost before everything was read changes nothing, and does not collect beside the next one',
    }),
    fault({
      name: 'clock-ahead',
      fault: clockShifted(120_000),
      ...pods,
      sizes: { workloads: [60, 1_000] },
      holds:
        'F3, F76: a manager whose clock is two minutes ahead removes all that it added, and reports each change once',
    }),
    fault({
      name: 'clock-behind',
      fault: clockShifted(-120_000),
      ...pods,
      sizes: { workloads: [60, 1_000] },
      holds:
        'F3, F76: a manager whose clock is two minutes behind removes all that it added, and reports each change once',
    }),
  ],
  apiServer: [
    fault({
      name: 'api-server-away',
      fault: apiServer.away,
      ...pods,
      sizes: { workloads: [60, 500], downtimeMs: [5_000, 60_000] },
      holds: 'the operator waits for an API server that is away in the middle of bulk work, and continues',
    }),
    fault({
      name: 'no-watch-cache',
      fault: apiServer.withoutWatchCache,
      ...pods,
      sizes: { workloads: [30, 300] },
      holds: 'the operator works with an API server without a watch cache as with any other',
    }),
    fault({
      name: 'flaky',
      fault: apiServer.flaky,
      ...pods,
      sizes: { workloads: [60, 500], changes: [3, 20], pauseMs: [5_000, 6_000] },
      holds: 'F7: answers of 429 and 500, and those that are cut in half, are retried without a warning',
    }),
    fault({
      name: 'slow-etcd',
      fault: apiServer.slowEtcd,
      ...noPods,
      sizes: { workloads: [40, 300], delayMs: [500, 500] },
      holds: 'an etcd that takes half a second for each answer slows the work down and breaks nothing',
    }),
    fault({
      name: 'watches-cut',
      fault: apiServer.watchesCut,
      ...pods,
      sizes: { workloads: [60, 500], changes: [3, 30], pauseMs: [3_000, 4_000] },
      holds: 'watches that break at random moments miss nothing',
    }),
    fault({
      name: 'late-answers',
      fault: apiServer.lateAnswers,
      ...pods,
      sizes: { workloads: [60, 500], changes: [3, 30], pauseMs: [3_000, 4_000] },
      holds: 'F6: answers to writes that are later than newer events of the watch revert nothing',
    }),
    fault({
      name: 'lost-answers',
      fault: apiServer.lostAnswers,
      ...pods,
      sizes: { workloads: [40, 300], changes: [4, 20], pauseMs: [4_000, 8_000] },
      holds: 'a write is reported once, although the watch has shown it and its answer breaks off',
    }),
    fault({
      name: 'etcd-restored',
      fault: apiServer.etcdRestored,
      ...pods,
      sizes: { workloads: [40, 300], lostWrites: [400, 3_000] },
      holds:
        'F6: the operator notices changes in a cluster that was restored from a backup, although versions are lower',
    }),
  ],
  neighbours: [
    fault({
      name: 'namespace-deleted',
      fault: neighbours.namespaceDeleted,
      ...noPods,
      sizes: { workloads: [40, 300] },
      holds: 'a namespace that is deleted during its work ends, and its neighbours are served at full speed',
    }),
    fault({
      name: 'changes-refused',
      fault: neighbours.changesRefused,
      ...noPods,
      sizes: { workloads: [40, 300] },
      holds: 'workloads whose every update is refused delay neither their own namespace nor others',
    }),
    fault({
      name: 'events-refused',
      fault: neighbours.eventsRefused,
      ...noPods,
      sizes: { workloads: [40, 300] },
      holds: 'F7: a namespace that refuses events delays neither its own workloads nor others',
    }),
    fault({
      name: 'other-webhook',
      fault: neighbours.otherWebhook,
      ...noPods,
      sizes: { workloads: [0, 0], perWebhook: [40, 300] },
      holds: 'another webhook that adds and reorders containers, called before ours or after it, causes no more writes',
    }),
    fault({
      name: 'fight-without-webhook',
      fault: fightWithoutWebhook,
      ...noPods,
      sizes: { workloads: [5, 5], observedMs: [20_000, 90_000], allowed: [2, 3] },
      holds:
        'F4: if another controller restores its template and the webhook is away, the operator stops and reports it',
    }),
    fault({
      name: 'fight-with-webhook',
      fault: fight,
      ...noPods,
      sizes: { workloads: [5, 5], observedMs: [10_000, 90_000], allowed: [2, 3] },
      holds: 'F4: if the webhook answers a controller that restores its template, the operator need not write',
    }),
    fault({
      name: 'foreign-finalizer',
      fault: foreignFinalizer,
      ...noPods,
      sizes: { workloads: [20, 300], observedMs: [5_000, 30_000] },
      holds: 'F5: a deleted Lumigo that waits for the finalizer of another owner costs what an idle one costs',
    }),
  ],
} as const satisfies Readonly<Record<string, readonly Fault[]>>;
