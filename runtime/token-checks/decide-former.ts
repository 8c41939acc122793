import { environment } from '../contract.ts';
import type { Replaced } from '../credentials/credential.ts';

/** What of a pod tells which token it runs with. */
export interface RunningPod {
  readonly metadata: {
    readonly name: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly kind: string;
      readonly name: string;
      readonly controller?: boolean;
    }[];
  };
  readonly spec: { readonly containers: readonly Container[] };
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly state?: { readonly running?: { readonly startedAt?: string } };
    }[];
  };
}

interface Container {
  readonly name: string;
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name?: string; readonly key: string } };
  }[];
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
    return senders.has(name) && startedAt > after && startedAt < before;
  });
}

function takesToken({ env = [] }: Container, secret: Place): boolean {
  const ref = env.find(({ name }) => name === environment.token)?.valueFrom?.secretKeyRef;
  return ref?.name === secret.name && ref.key === secret.key;
}

/** What somebody would restart: a Deployment rather than its ReplicaSet, whose name ends in the hash of the template. */
export function workloadOf({ metadata }: Pick<RunningPod, 'metadata'>): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return `Pod/${metadata.name}`;
  const hash = metadata.labels?.['pod-template-hash'];
  return owner.kind === 'ReplicaSet' && hash !== undefined && owner.name.endsWith(`-${hash}`)
    ? `Deployment/${owner.name.slice(0, -hash.length - 1)}`
    : `${owner.kind}/${owner.name}`;
}
