import { setTimeout as sleep } from 'node:timers/promises';
import { readCredential, type ReadSecret } from '../credential.ts';
import { REPLACEMENT_MS, rereadMs, TRANSITION_MS } from './plan-rereading.ts';

/** Where a token stands. */
export interface TokenSource {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

export interface TokenBookOptions {
  readonly readSecret: ReadSecret;
  /** Some source has another token than before, or none any more. */
  readonly onChange: (namespace: string) => void;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface Entry {
  readonly source: TokenSource;
  token: string | undefined;
  /** The Secret was not there when it was last read. */
  isMissing: boolean;
  /** Tokens that stood here before, and until when they are let in. */
  readonly former: Map<string, number>;
  readAt: number;
}

const READERS = 4;

/**
 * The tokens of all sources, read again and again: the operator may read a Secret by its name and cannot watch it. An API
 * server that does not answer changes nothing.
 */
export class TokenBook {
  readonly #options: TokenBookOptions;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  #wake: () => void = () => undefined;

  constructor(options: TokenBookOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Names all sources there are; new ones are read at once. */
  want(sources: Iterable<TokenSource>): void {
    const wanted = new Map([...sources].map((source) => [keyOf(source), source]));
    for (const key of this.#entries.keys()) if (!wanted.has(key)) this.#entries.delete(key);
    for (const [key, source] of wanted)
      if (!this.#entries.has(key))
        this.#entries.set(key, { source, token: undefined, isMissing: false, former: new Map(), readAt: -Infinity });
    this.#wake();
  }

  token(source: TokenSource): string | undefined {
    return this.#entries.get(keyOf(source))?.token;
  }

  /** Every token that may send now, sorted: those that stand in a Secret, and for a while those that stood there. */
  letIn(): readonly string[] {
    const now = this.#now();
    const tokens = [...this.#entries.values()].flatMap(({ token, former }) => [
      ...(token === undefined ? [] : [token]),
      ...[...former].flatMap(([before, until]) => (until > now ? [before] : [])),
    ]);
    return [...new Set(tokens)].toSorted();
  }

  /** Whether every source was read at least once. */
  isComplete(): boolean {
    return [...this.#entries.values()].every(({ readAt }) => readAt > -Infinity);
  }

  /** Reads until the signal is aborted. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const due = this.#due();
      await Promise.all(Array.from({ length: READERS }, () => this.#readAll(due)));
      await this.#pause();
    }
  }

  #due(): Entry[] {
    const oldest = this.#now() - rereadMs(this.#entries.size);
    return [...this.#entries.values()].filter(({ readAt }) => readAt <= oldest);
  }

  async #readAll(due: Entry[]): Promise<void> {
    for (let entry = due.pop(); entry !== undefined && !this.#options.signal.aborted; entry = due.pop())
      await this.#read(entry);
  }

  async #read(entry: Entry): Promise<void> {
    const { source, former } = entry;
    const { token, problem } = await readCredential(this.#options.readSecret, source.namespace, source);
    const isFirst = entry.readAt === -Infinity;
    entry.readAt = this.#now();
    if (this.#mayBeReplaced(entry, problem?.reason === 'SecretNotFound')) return;
    if (problem?.reason === 'SecretUnreadable' || token === entry.token) {
      if (isFirst) this.#options.onChange(source.namespace);
      return;
    }
    // Whoever runs with the token that was replaced goes on with it until its next restart.
    if (token !== undefined && entry.token !== undefined) former.set(entry.token, entry.readAt + TRANSITION_MS);
    if (token === undefined) former.clear();
    entry.token = token;
    this.#options.onChange(source.namespace);
  }

  /** Many tools delete a Secret and create it anew. It is looked for once more before its pods are shut out for good. */
  #mayBeReplaced(entry: Entry, isMissing: boolean): boolean {
    const wasMissing = entry.isMissing;
    entry.isMissing = isMissing;
    if (!isMissing || wasMissing || entry.token === undefined) return false;
    entry.readAt = this.#now() - rereadMs(this.#entries.size) + REPLACEMENT_MS;
    return true;
  }

  async #pause(): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    if (this.#due().length > 0) return;
    const signal = AbortSignal.any([woken.signal, this.#options.signal]);
    await sleep(rereadMs(this.#entries.size) / 4, undefined, { signal }).catch(() => undefined);
  }
}

const keyOf = ({ namespace, name, key }: TokenSource): string => `${namespace}/${name}/${key}`;
