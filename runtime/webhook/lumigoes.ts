import type { LumigoResource } from '../api/lumigo.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { allowed, probeEcho, tooLarge, type AdmissionRequest, type Answer } from './review.ts';

type Lumigoes = Pick<LumigoStore, 'in' | 'count' | 'isExcluded'>;

/** Finalizers can keep deleted ones for ever, of 1.5 MB each, and the telemetry proxy reads all at once. */
const MAX_STORED = 10;

/** Refuses a second `Lumigo` in a namespace, unless the first is being deleted, and an eleventh. The status reports others. */
export function reviewLumigo(request: AdmissionRequest, lumigoes: Lumigoes): Answer {
  const echo = probeEcho(request);
  const { operation, unread, object } = request;
  if (echo !== undefined) return echo;
  if (operation !== 'CREATE') return unread === undefined ? allowed('Nothing to check') : tooLarge(unread);
  const { name, namespace = '' } = object?.metadata ?? {};
  return reviewCreation(name, request.namespace ?? namespace, lumigoes);
}

function reviewCreation(name: string | undefined, namespace: string, lumigoes: Lumigoes): Answer {
  const there = lumigoes.in(namespace);
  // The API server itself answers AlreadyExists, on which clients rely.
  if (there.some(({ metadata }) => metadata.name === name)) return allowed('Its name exists already');
  const count = lumigoes.count(namespace);
  const message = `The '${namespace}' namespace still has ${count} Lumigo resources. Delete them, and remove the finalizers that keep them`;
  if (count >= MAX_STORED) return { code: 409, message };
  const hint = `Lumigo: the operator never instruments workloads in the '${namespace}' namespace; create the Lumigo resource in the namespace of your workloads`;
  if (lumigoes.isExcluded(namespace)) return allowed('The namespace is excluded', [hint]);
  const first = there.find(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (first === undefined)
    return allowed('No other Lumigo resource stays in its namespace', there.slice(0, 1).map(getSuccessor));
  return {
    code: 409,
    message: `There is already a Lumigo resource in the '${namespace}' namespace: '${first.metadata.name}'. Change that one, or delete it first`,
  };
}

/** The new `Lumigo` takes effect at once (injection/policy.ts), so no injection is removed only to be added again. */
const getSuccessor = ({ metadata: { name } }: LumigoResource): string =>
  `Lumigo: '${name}' is still being deleted; the new Lumigo resource takes over its workloads now, with its own settings`;
