import type { ArenaOptions } from '../arena.ts';
import type { Scenario } from '../scenario.ts';
import { away, etcdRestored, flaky, slowEtcd, withoutWatchCache } from './api-server.ts';
import { clockAhead, clockBehind } from './clocks.ts';
import { fightWithoutWebhook, fightWithWebhook, foreignFinalizer } from './fights.ts';
import { killed } from './killed.ts';
import { paused, unsynced } from './leadership.ts';
import { lumigoChanges } from './lumigo-changes.ts';
import { changesRefused, eventsRefused, namespaceDeleted, otherWebhook } from './neighbours.ts';
import { lateAnswers, lostAnswers, watchesCut } from './watches.ts';

/** Faults that can share a cluster, one after the other. */
export interface Group {
  readonly arena: ArenaOptions;
  readonly scenarios: readonly Scenario[];
}

/** All of them, by what is broken. */
export const groups = {
  operator: { arena: {}, scenarios: [lumigoChanges, killed, paused, unsynced, clockAhead, clockBehind] },
  apiServer: {
    arena: { slowEtcd: true },
    scenarios: [away, withoutWatchCache, flaky, slowEtcd, watchesCut, lateAnswers, lostAnswers, etcdRestored],
  },
  neighbours: {
    arena: { controllers: true },
    scenarios: [
      namespaceDeleted,
      changesRefused,
      eventsRefused,
      otherWebhook,
      fightWithoutWebhook,
      fightWithWebhook,
      foreignFinalizer,
    ],
  },
} as const satisfies Readonly<Record<string, Group>>;
