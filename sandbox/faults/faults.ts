import * as apiServer from './api-server-faults.ts';
import { isFull, type FaultRun } from './fault-run.ts';
import { fight, fightWithoutWebhook, foreignFinalizer } from './fights.ts';
import type { Fleet } from './fleet.ts';
import { paused, unsynced } from './leadership.ts';
import * as neighbours from './neighbour-faults.ts';
import { clockShifted, killed, lumigoChanges } from './operator-faults.ts';

/** One number for `npm test`, and one for `npm run test:faults`. */
type Sizes<P> = { readonly [K in keyof P]: readonly [everyday: number, full: number] };

interface Row<P> {
  /** A promise of the operator. */
  readonly holds: string;
  /** Some workloads have pods, and one of them crashes with the injection. Default: none has. */
  readonly pods?: true;
  readonly sizes: Sizes<P & { readonly workloads: number }>;
}

export interface Fault {
  readonly holds: string;
  readonly inject: (faultRun: FaultRun) => Promise<unknown>;
}

const RUNNING = isFull ? 12 : 4;

const fault = <P>(
  inject: (faultRun: FaultRun, fleet: Fleet, sizes: P) => Promise<unknown>,
  { holds, pods, sizes }: Row<P>,
): Fault => ({
  holds,
  async inject(faultRun) {
    const pairs = Object.entries<readonly number[]>(sizes);
    const sized = Object.fromEntries(pairs.map(([name, pair]) => [name, pair[isFull ? 1 : 0]]));
    const { workloads } = sized as { workloads: number };
    return inject(faultRun, await faultRun.fleet(workloads, pods === true ? RUNNING : 0), sized as P);
  },
});

/** All faults, by the broken part. Those of a group share a cluster, one after the other. */
export const groups = {
  operator: {
    'lumigo-changes': fault(lumigoChanges, {
      pods: true,
      sizes: { workloads: [30, 500], rounds: [3, 50], pauseMs: [1_000, 2_500] },
      holds: 'F1: a Lumigo that is created, changed and deleted at random moments of bulk work leaves nothing behind',
    }),
    killed: fault(killed, {
      pods: true,
      sizes: { workloads: [30, 300], kills: [3, 50], worksMs: [4_000, 8_000] },
      holds: 'a manager that is killed at random instants of bulk work loses nothing and repeats nothing',
    }),
    paused: fault(paused, {
      pods: true,
      sizes: { workloads: [50, 1_000], stoppedMs: [20_000, 40_000], watchedMs: [5_000, 20_000] },
      holds: 'F2: a leader that was stopped beyond its Lease with work in hand writes nothing when it goes on',
    }),
    'unsynced-term': fault(unsynced, {
      pods: true,
      sizes: { workloads: [30, 300], watchedMs: [8_000, 20_000] },
      holds:
        'F2: a term that is lost before everything was read changes nothing, and does not collect beside the next one',
    }),
    'clock-ahead': fault(clockShifted(120_000), {
      pods: true,
      sizes: { workloads: [30, 1_000] },
      holds:
        'F3, F76: a manager whose clock is two minutes ahead removes all that it added, and reports each change once',
    }),
    'clock-behind': fault(clockShifted(-120_000), {
      pods: true,
      sizes: { workloads: [30, 1_000] },
      holds:
        'F3, F76: a manager whose clock is two minutes behind removes all that it added, and reports each change once',
    }),
  },
  apiServer: {
    'api-server-away': fault(apiServer.away, {
      pods: true,
      sizes: { workloads: [30, 500], downtimeMs: [5_000, 60_000] },
      holds: 'the operator waits for an API server that is away in the middle of bulk work, and continues',
    }),
    'no-watch-cache': fault(apiServer.withoutWatchCache, {
      pods: true,
      sizes: { workloads: [30, 300] },
      holds: 'the operator works with an API server without a watch cache as with any other',
    }),
    flaky: fault(apiServer.flaky, {
      pods: true,
      sizes: { workloads: [30, 500], changes: [3, 20], pauseMs: [5_000, 6_000] },
      holds: 'F7: answers of 429 and 500, and those that are cut in half, are retried without a warning',
    }),
    'slow-etcd': fault(apiServer.slowEtcd, {
      sizes: { workloads: [30, 300] },
      holds: 'an etcd that takes half a second for each answer slows the work down and breaks nothing',
    }),
    'watches-cut': fault(apiServer.watchesCut, {
      pods: true,
      sizes: { workloads: [30, 500], changes: [3, 30], pauseMs: [3_000, 4_000] },
      holds: 'watches that break at random moments miss nothing',
    }),
    'late-answers': fault(apiServer.lateAnswers, {
      pods: true,
      sizes: { workloads: [30, 500], changes: [3, 30], pauseMs: [3_000, 4_000] },
      holds: 'F6: answers to writes that are later than newer events of the watch revert nothing',
    }),
    'lost-answers': fault(apiServer.lostAnswers, {
      pods: true,
      sizes: { workloads: [30, 300], changes: [4, 20], pauseMs: [4_000, 8_000] },
      holds: 'a write is reported once, although the watch has shown it and its answer breaks off',
    }),
    'etcd-restored': fault(apiServer.etcdRestored, {
      pods: true,
      sizes: { workloads: [30, 300], lostWrites: [400, 3_000] },
      holds:
        'F6: the operator notices changes in a cluster that was restored from a backup, although versions are lower',
    }),
  },
  neighbours: {
    'namespace-deleted': fault(neighbours.namespaceDeleted, {
      sizes: { workloads: [40, 300] },
      holds: 'a namespace that is deleted during its work ends, and its neighbours are served at full speed',
    }),
    'changes-refused': fault(neighbours.changesRefused, {
      sizes: { workloads: [40, 300] },
      holds: 'workloads whose every update is refused delay neither their own namespace nor others',
    }),
    'events-refused': fault(neighbours.eventsRefused, {
      sizes: { workloads: [40, 300] },
      holds: 'F7: a namespace that refuses events delays neither its own workloads nor others',
    }),
    'other-webhook': fault(neighbours.otherWebhook, {
      sizes: { workloads: [0, 0], perWebhook: [20, 300] },
      holds: 'another webhook that adds and reorders containers, called before ours or after it, causes no more writes',
    }),
    'fight-without-webhook': fault(fightWithoutWebhook, {
      sizes: { workloads: [5, 5], observedMs: [20_000, 90_000], allowed: [2, 3] },
      holds:
        'F4: if another controller restores its template and the webhook is away, the operator stops and reports it',
    }),
    'fight-with-webhook': fault(fight, {
      sizes: { workloads: [5, 5], observedMs: [10_000, 90_000], allowed: [2, 3] },
      holds: 'F4: if the webhook answers a controller that restores its template, the operator need not write',
    }),
    'foreign-finalizer': fault(foreignFinalizer, {
      sizes: { workloads: [10, 300], observedMs: [5_000, 30_000] },
      holds: 'F5: a deleted Lumigo that waits for the finalizer of another owner costs what an idle one costs',
    }),
  },
};
