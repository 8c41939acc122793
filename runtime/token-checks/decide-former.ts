import { environment } from '../contract.ts';
import type { Replaced } from '../credentials/credential.ts';
import type { Container, Metadata } from '../injection/types.ts';
import type { PodStatus } from '../rollout/evidence.ts';
import { workloadOf } from '../rollout/observe-pod.ts';

/** What of a pod tells which token it runs with. */
export interface RunningPod {
  readonly metadata: Metadata & { readonly name: string };
  readonly spec: { readonly containers: readonly Container[] };
  readonly status?: PodStatus;
}

interface Place {
  readonly name: string;
  readonly key: string;
}

/** The clocks of the nodes and of the API server may differ by so much. */
const SKEW_MS = 2_000;

/**
 * Whether a pod sends a token that was replaced in its Secret: a container takes the token from there when it starts, and keeps it
 * until it ends.
 */
export function isFormer({ metadata, spec, status }: RunningPod, secret: Place, { since, until }: Replaced): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const after = since === undefined ? -Infinity : Date.parse(since) + SKEW_MS;
  const before = Date.parse(until) - SKEW_MS;
  const senders = new Set(spec.containers.filter((each) => takesToken(each, secret)).map(({ name }) => name));
  return (status?.containerStatuses ?? []).some(({ name, state }) => {
    const startedAt = Date.parse(state?.running?.startedAt ?? '');
    return senders.has(name ?? '') && startedAt > after && startedAt < before;
  });
}

function takesToken({ env = [] }: Container, secret: Place): boolean {
  const ref = env.find(({ name }) => name === environment.token)?.valueFrom?.secretKeyRef;
  return ref?.name === secret.name && ref.key === secret.key;
}

/** What somebody would restart, as `Kind/name`. */
export const toRestart = ({ metadata }: Pick<RunningPod, 'metadata'>): string =>
  workloadOf(metadata) ?? `Pod/${metadata.name}`;
