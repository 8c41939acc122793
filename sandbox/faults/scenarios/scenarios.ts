import type { Scenario } from '../scenario.ts';
import { away, etcdRestored, flaky, slowEtcd, withoutWatchCache } from './api-server.ts';
import { clockAhead, clockBehind } from './clocks.ts';
import { fightWithoutWebhook, fightWithWebhook, foreignFinalizer } from './fights.ts';
import { killed } from './killed.ts';
import { paused, unsynced } from './leadership.ts';
import { lumigoChanges } from './lumigo-changes.ts';
import { changesRefused, eventsRefused, namespaceDeleted, otherWebhook } from './neighbours.ts';
import { lateAnswers, lostAnswers, watchesCut } from './watches.ts';

/** All of them, by what is broken; those of a group share a cluster, one after the other. */
export const groups = {
  operator: [lumigoChanges, killed, paused, unsynced, clockAhead, clockBehind],
  apiServer: [away, withoutWatchCache, flaky, slowEtcd, watchesCut, lateAnswers, lostAnswers, etcdRestored],
  neighbours: [
    namespaceDeleted,
    changesRefused,
    eventsRefused,
    otherWebhook,
    fightWithoutWebhook,
    fightWithWebhook,
    foreignFinalizer,
  ],
} as const satisfies Readonly<Record<string, readonly Scenario[]>>;
