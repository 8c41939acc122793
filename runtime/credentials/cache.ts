import type { Logger } from 'pino';
import { backoffMs } from '../async/retrying.ts';
import { Debounce } from '../async/debounce.ts';
import { Topic } from '../async/topic.ts';
import { describeError } from '../wording/errors.ts';
import { AnswerTooLargeError, askedWaitMs, isForbidden, isNotFound } from '../kubernetes/http/errors.ts';
import { credentialIn, credentialWithout, nowhere } from './credential.ts';
import type { Credential, ReadSecret, TokenSource } from './credential.ts';
import { afterReading, planReading, TOLD_APART_MS } from './plan-reading.ts';
import { WantedSecret } from './wanted-secret.ts';

type CredentialCacheOptions = Readonly<{ readSecret: ReadSecret; logger: Pick<Logger, 'warn' | 'debug'> }>;

const MAX_CONCURRENT_READS = 8;
/** After so many failures a Secret that was never read is unreadable, and is read at the pace of news. */
const TRIES = 3;
/** An API server that has just started forbids everything for less than this time. */
const STARTING_MS = 2_000;
/** A token stays in use for this time after its Secret is forbidden, because rights may be missing only for a while. */
const FORBIDDEN_MS = 10 * 60_000;
const IDLE_MS = 60_000;
/** Replicas that started together drift apart by up to this time with each read. */
const JITTER_MS = 1_000;

/** Reads Secrets at the pace of plan-reading.ts, because it may not watch them. A failed read keeps the known value. */
export class CredentialCache {
  readonly name = 'credentials';
  readonly changed = new Topic<[namespace: string]>();
  private readonly secrets = new Map<string, WantedSecret>();
  private readonly byUser = new Map<string, readonly WantedSecret[]>();
  private last: ReadonlyMap<string, number> = new Map();
  private readonly reading = new Set<WantedSecret>();
  private readonly changes = new Debounce({ quietMs: 0, atMostMs: 0 });
  private leads = false;

  constructor(private readonly options: CredentialCacheOptions) {}

  /** Forgets a Secret that no user wants any more. Ignores sources without a possible name or key. */
  want(user: string, sources: Iterable<TokenSource>): void {
    const wanted = new Map<WantedSecret, TokenSource[]>();
    for (const source of [...sources].filter(isNamed)) {
      const secret = this.secrets.get(toKey(source)) ?? new WantedSecret(source.namespace, source.name);
      this.secrets.set(toKey(source), secret);
      const asked = wanted.get(secret) ?? [];
      wanted.set(secret, asked);
      // A copy for each of many thousand sources of one Secret would block the event loop for seconds.
      asked.push(source);
    }
    const released = this.byUser.get(user)?.filter((each) => !wanted.has(each) && each.release(user)) ?? [];
    for (const secret of released) this.secrets.delete(toKey(secret));
    if (wanted.size === 0) this.byUser.delete(user);
    else this.byUser.set(user, [...wanted.keys()]);
    for (const [secret, asked] of wanted) if (secret.want(user, asked, performance.now())) this.changes.touch();
  }

  get(source: TokenSource): Credential | undefined {
    return isNamed(source) ? this.secrets.get(toKey(source))?.credentials.get(source.key) : nowhere;
  }

  /** The leader reads for all replicas, which learn of a new version by the status. */
  lead(leads: boolean): void {
    this.leads = leads;
    this.changes.touch();
  }

  readonly run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const now = performance.now();
      const isBusy = this.reading.size >= MAX_CONCURRENT_READS;
      const idle = [...this.secrets.values()].filter((secret) => !this.reading.has(secret));
      const plan = isBusy ? { at: Infinity } : planReading(idle, { leads: this.leads, last: this.last, now });
      if (plan.read === undefined) {
        await this.changes.wait(Math.min(Math.max(plan.at - now, 1), IDLE_MS), signal);
        continue;
      }
      this.last = afterReading(this.last, plan.priority, plan.read.namespace, now);
      void this.read(plan.read, now);
    }
  };

  private async read(secret: WantedSecret, startedAt: number): Promise<void> {
    const { namespace, name, reportedAt } = secret;
    this.reading.add(secret);
    // News that arrives during the read counts.
    secret.reportedAt = undefined;
    const { of, error, isMissing } = await this.options.readSecret(namespace, name).then(
      (content) => ({ of: (source: TokenSource) => credentialIn(content, source), error: undefined, isMissing: false }),
      (error: unknown) => ({ of: getWithout(error), error, isMissing: isNotFound(error) }),
    );
    this.reading.delete(secret);
    this.changes.touch();
    if (this.secrets.get(toKey(secret)) !== secret) return;
    secret.forbiddenSince = isForbidden(error) ? Math.min(secret.forbiddenSince, startedAt) : Infinity;
    const isAnswered = error === undefined || isMissing || error instanceof AnswerTooLargeError;
    if (!isAnswered) return this.failed(secret, error, startedAt, reportedAt);
    const readAt = startedAt + Math.random() * JITTER_MS;
    Object.assign(secret, { readAt, failures: 0, retryAt: -Infinity });
    if (secret.mayComeBack(isMissing, startedAt)) secret.reportedAt = performance.now() + TOLD_APART_MS;
    else if (secret.learn(of)) this.changed.emit(namespace);
  }

  /** A failed read says nothing about the Secret, so its tokens are kept. A right that stays away is withdrawn. */
  private failed(secret: WantedSecret, error: unknown, startedAt: number, reportedAt: number | undefined): void {
    secret.failures += 1;
    const retryInMs = Math.round(backoffMs(secret.failures, { atLeastMs: askedWaitMs(error) }));
    secret.retryAt = performance.now() + retryInMs;
    const fields = { namespace: secret.namespace, secret: secret.name, problem: describeError(error), retryInMs };
    const level = secret.failures === 1 ? 'warn' : 'debug';
    this.options.logger[level](fields, 'Secret not read');
    const forbiddenMs = startedAt - secret.forbiddenSince;
    // It counts as an answer, so the next error is the first one.
    if (forbiddenMs >= STARTING_MS) Object.assign(secret, { retryAt: -Infinity, failures: 1 });
    else secret.reportedAt ??= reportedAt;
    if (forbiddenMs < STARTING_MS && !isUnreadable(secret)) return;
    secret.readAt = startedAt;
    const kept = forbiddenMs < FORBIDDEN_MS ? secret.tokens() : new Map<string, Credential>();
    const without = getWithout(error);
    if (secret.learn((source) => kept.get(source.key) ?? without(source))) this.changed.emit(secret.namespace);
  }
}

const toKey = ({ namespace, name }: Pick<TokenSource, 'namespace' | 'name'>): string => `${namespace}/${name}`;
const isUnreadable = ({ readAt, failures, forbiddenSince }: WantedSecret): boolean =>
  readAt === undefined && failures >= TRIES && forbiddenSince === Infinity;
const getWithout = (error: unknown) => (source: TokenSource) => credentialWithout(error, source);

/** The API server never looks for the other names, so such a Secret would seem unreadable. */
const isNamed = ({ name, key }: TokenSource): boolean => !/^[.]*$|[/%]/.test(name) && key !== '';
