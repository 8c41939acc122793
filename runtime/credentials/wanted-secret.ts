import type { Credential, TokenSource } from './credential.ts';
import { TOLD_APART_MS, type ReadingState } from './plan-reading.ts';

/** A Secret that somebody wants tokens of: who, what is known of it, and what its next reading depends on. */
export class WantedSecret implements ReadingState {
  /** By key. */
  readonly credentials = new Map<string, Credential>();
  private readonly sources = new Map<string, readonly TokenSource[]>();
  readAt: number | undefined;
  toldAt: number | undefined;
  retryAt = -Infinity;
  wantedAt = -Infinity;
  /** How often in a row it could not be read. */
  failures = 0;
  /** It was not there when it was last read. */
  isMissing = false;

  constructor(
    readonly namespace: string,
    readonly name: string,
  ) {}

  /** Takes what a user wants of it. Returns whether that is a reason to read it. */
  want(user: string, sources: readonly TokenSource[], now: number): boolean {
    const known = new Set(this.all().flatMap(reasonsOf));
    this.sources.set(user, sources);
    const isNews = sources.flatMap(reasonsOf).some((reason) => !known.has(reason) && reason !== this.versionRead());
    if (!isNews) return false;
    this.toldAt = Math.max(now, (this.readAt ?? -Infinity) + TOLD_APART_MS);
    this.wantedAt = now;
    return true;
  }

  /** A user wants it no more. Returns whether nobody does. */
  release(user: string): boolean {
    this.sources.delete(user);
    return this.sources.size === 0;
  }

  hasToken(): boolean {
    return [...this.credentials.values()].some(({ token }) => token !== undefined);
  }

  get isAwaited(): boolean {
    return [...this.credentials.values()].some(({ problem }) => problem !== undefined);
  }

  get isAnnounced(): boolean {
    return this.failures === 0 && this.all().every(({ announced }) => announced !== undefined);
  }

  /** Takes what was read, for each key that is wanted. Returns whether anything is other than it was. */
  learn(credentialOf: (source: TokenSource) => Credential): boolean {
    const before = JSON.stringify([...this.credentials]);
    this.credentials.clear();
    for (const source of this.all()) this.credentials.set(source.key, credentialOf(source));
    return JSON.stringify([...this.credentials]) !== before;
  }

  private all(): readonly TokenSource[] {
    return [...this.sources.values()].flat();
  }

  private versionRead(): string | undefined {
    const [credential] = this.credentials.values();
    return credential?.version === undefined ? undefined : versionReason(credential.version);
  }
}

const versionReason = (version: string): string => `version ${version}`;

/** What, once it is new, is a reason to read the Secret: another key, a change of who names it, another version. */
const reasonsOf = ({ key, revision, announced }: TokenSource): readonly string[] => [
  `key ${key}`,
  ...(revision === undefined ? [] : [`revision ${revision}`]),
  ...(announced === undefined ? [] : [versionReason(announced)]),
];
