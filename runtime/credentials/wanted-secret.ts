import type { Credential, TokenSource } from './credential.ts';
import { REPLACEMENT_MS, TOLD_APART_MS, type ReadingState } from './plan-reading.ts';

export class WantedSecret implements ReadingState {
  /** The keys are those of the Secret. */
  readonly credentials = new Map<string, Credential>();
  private readonly sources = new Map<string, readonly TokenSource[]>();
  private areAnnounced: boolean | undefined;
  isAwaited = false;
  readAt: number | undefined;
  reportedAt: number | undefined;
  retryAt = -Infinity;
  failures = 0;
  forbiddenSince = Infinity;
  private missingSince: number | undefined;

  constructor(
    readonly namespace: string,
    readonly name: string,
  ) {}

  want(user: string, sources: readonly TokenSource[], now: number): boolean {
    const [first] = this.credentials.values();
    const known = new Set([...this.all().flatMap(getReasons), `version ${first?.version}`]);
    this.sources.set(user, sources);
    this.areAnnounced = undefined;
    if (sources.flatMap(getReasons).every((reason) => known.has(reason))) return false;
    this.reportedAt = Math.max(now, (this.readAt ?? -Infinity) + TOLD_APART_MS);
    return true;
  }

  release(user: string): boolean {
    this.areAnnounced = undefined;
    return this.sources.delete(user) && this.sources.size === 0;
  }

  /** Many tools delete a Secret and create it again, so it is read for a while before senders are refused. */
  mayComeBack(isMissing: boolean, now: number): boolean {
    this.missingSince = isMissing ? (this.missingSince ?? now) : undefined;
    return this.tokens().size > 0 && now - (this.missingSince ?? -Infinity) < REPLACEMENT_MS;
  }

  /** The credentials with a token, by the keys of the Secret. */
  tokens(): ReadonlyMap<string, Credential> {
    return new Map([...this.credentials].filter(([, { token }]) => token !== undefined));
  }

  get isAnnounced(): boolean {
    this.areAnnounced ??= this.all().every(({ announced }) => announced !== undefined);
    return this.failures === 0 && this.areAnnounced;
  }

  learn(getCredential: (source: TokenSource) => Credential): boolean {
    const before = JSON.stringify([...this.credentials]);
    this.credentials.clear();
    for (const source of this.all()) this.credentials.set(source.key, getCredential(source));
    this.isAwaited = [...this.credentials.values()].some(({ problem }) => problem !== undefined);
    return JSON.stringify([...this.credentials]) !== before;
  }

  private all(): readonly TokenSource[] {
    return [...this.sources.values()].flat();
  }
}

/** A new key, a changed user, or a new version is a reason to read the Secret. */
const getReasons = ({ key, revision, announced }: TokenSource): readonly string[] => [
  `key ${key}`,
  ...(revision === undefined ? [] : [`revision ${revision}`]),
  ...(announced === undefined ? [] : [`version ${announced}`]),
];
