import type { Logger } from 'pino';
import { Debounce } from '../async/debounce.ts';
import { describeError } from '../wording/errors.ts';
import { ApiError, isForbidden, isNotFound } from '../kubernetes/http/errors.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import {
  credentialIn,
  credentialWithout,
  nowhere,
  type Credential,
  type ReadSecret,
  type TokenSource,
} from './credential.ts';
import { planReading, REPLACEMENT_MS, type Priority } from './plan-reading.ts';
import { WantedSecret } from './wanted-secret.ts';

interface CredentialCacheOptions {
  readonly readSecret: ReadSecret;
  readonly logger: Pick<Logger, 'warn' | 'debug'>;
  /** Milliseconds since some moment; they never go back. */
  readonly now?: () => number;
  readonly random?: () => number;
}

const CONCURRENT = 8;
const backoff = { firstMs: 1_000, maxMs: 30_000 };
/** So often in a row it has to fail until a Secret that was never read counts as unreadable, and none is urgent any more. */
const TRIES = 3;
const IDLE_MS = 60_000;

type Outcome =
  { readonly of: (source: TokenSource) => Credential; readonly isMissing: boolean } | { readonly error: unknown };

/**
 * The tokens of this replica, for whoever needs them: the operator may read a Secret by its name and cannot watch it, so each
 * is read again by the pace of plan-reading.ts, once for all its keys and users. What the API server does not answer changes
 * nothing.
 */
export class CredentialCache {
  private readonly now: () => number;
  private readonly secrets = new Map<string, WantedSecret>();
  private readonly wants = new Map<string, readonly WantedSecret[]>();
  private readonly listeners = new Set<(namespace: string) => void>();
  private readonly last: Partial<Record<Priority, number>> = {};
  private readonly reading = new Set<WantedSecret>();
  private readonly changes = new Debounce({ quietMs: 0, atMostMs: 0 });
  private leads = false;

  constructor(private readonly options: CredentialCacheOptions) {
    this.now = options.now ?? (() => performance.now());
  }

  /** Replaces what a user wants; a Secret that nobody wants any more is forgotten. Those without a name or key are left out. */
  want(user: string, sources: Iterable<TokenSource>): void {
    const wanted = new Map<WantedSecret, TokenSource[]>();
    for (const source of sources) {
      if (!isNamed(source)) continue;
      const secret = this.secret(source);
      const asked = wanted.get(secret);
      if (asked === undefined) wanted.set(secret, [source]);
      else asked.push(source);
    }
    for (const secret of this.wants.get(user) ?? [])
      if (!wanted.has(secret) && secret.release(user)) this.secrets.delete(keyOf(secret));
    this.wants.set(user, [...wanted.keys()]);
    if (wanted.size === 0) this.wants.delete(user);
    const news = [...wanted].filter(([secret, asked]) => secret.want(user, asked, this.now()));
    if (news.length > 0) this.changes.touch();
  }

  private secret(source: TokenSource): WantedSecret {
    const secret = this.secrets.get(keyOf(source)) ?? new WantedSecret(source.namespace, source.name);
    this.secrets.set(keyOf(source), secret);
    return secret;
  }

  /** What stands there, as far as this replica knows; undefined: not read yet, or nobody wants it. */
  get(source: TokenSource): Credential | undefined {
    return isNamed(source) ? this.secrets.get(keyOf(source))?.credentials.get(source.key) : nowhere;
  }

  /** Whether this replica reads for all of them. */
  lead(leads: boolean): void {
    this.leads = leads;
    this.changes.touch();
  }

  /** Calls, until the signal is aborted, whenever something in a namespace is another credential, or one of another version. */
  onChange(listener: (namespace: string) => void, signal: AbortSignal): void {
    this.listeners.add(listener);
    signal.addEventListener('abort', () => this.listeners.delete(listener), { once: true });
  }

  /** Reads until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const context = { leads: this.leads, last: this.last, now: this.now() };
      const plan = this.reading.size < CONCURRENT ? planReading(this.idle(), context) : { at: Infinity };
      if (plan.read === undefined) {
        await this.changes.wait(Math.min(Math.max(plan.at - context.now, 1), IDLE_MS), signal);
        continue;
      }
      this.last[plan.priority] = context.now;
      void this.read(plan.read, context.now);
    }
  }

  private *idle(): Iterable<WantedSecret> {
    for (const secret of this.secrets.values()) if (!this.reading.has(secret)) yield secret;
  }

  private async read(secret: WantedSecret, startedAt: number): Promise<void> {
    this.reading.add(secret);
    const { toldAt } = secret;
    secret.toldAt = undefined;
    const outcome = await this.ask(secret);
    this.reading.delete(secret);
    this.changes.touch();
    if (this.secrets.get(keyOf(secret)) !== secret) return;
    if ('error' in outcome) return this.failed(secret, outcome.error, { startedAt, wasTold: toldAt !== undefined });
    secret.readAt = startedAt;
    secret.failures = 0;
    secret.retryAt = -Infinity;
    const mayComeBack = outcome.isMissing && !secret.isMissing && secret.hasToken();
    secret.isMissing = outcome.isMissing;
    // Many tools delete a Secret and create it anew. It is looked for once more before its pods are shut out.
    if (mayComeBack) secret.toldAt = this.now() + REPLACEMENT_MS;
    else this.learn(secret, outcome.of);
  }

  private async ask({ namespace, name }: WantedSecret): Promise<Outcome> {
    try {
      const content = await this.options.readSecret(namespace, name);
      return { of: (source) => credentialIn(content, source), isMissing: false };
    } catch (error) {
      const isMissing = isNotFound(error);
      return isMissing || isForbidden(error)
        ? { of: (source) => credentialWithout(error, source), isMissing }
        : { error };
    }
  }

  private learn(secret: WantedSecret, credentialOf: (source: TokenSource) => Credential): void {
    if (secret.learn(credentialOf)) for (const listener of this.listeners) listener(secret.namespace);
  }

  /** The API server said nothing of the Secret: what is known of it stays, and it is read again in a while. */
  private failed(secret: WantedSecret, error: unknown, attempt: { startedAt: number; wasTold: boolean }): void {
    const { logger, random = Math.random } = this.options;
    secret.failures += 1;
    const atLeastMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
    const retryInMs = Math.round(backoffMs(secret.failures, backoff, random(), atLeastMs));
    secret.retryAt = this.now() + retryInMs;
    const fields = { namespace: secret.namespace, secret: secret.name, problem: describeError(error), retryInMs };
    logger[secret.failures === 1 ? 'warn' : 'debug'](fields, 'Secret not read');
    if (secret.failures < TRIES) secret.toldAt ??= attempt.wasTold ? secret.retryAt : undefined;
    else if (secret.readAt === undefined) {
      secret.readAt = attempt.startedAt;
      this.learn(secret, (source) => credentialWithout(error, source));
    }
  }
}

const keyOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

const isNamed = ({ name, key }: TokenSource): boolean => name !== '' && key !== '';
