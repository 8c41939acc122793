import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { describeError } from '../wording/errors.ts';

/** Why a scrape is not answered, in a sentence that says what to do. */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly message: string;
}

/** What the API server says of a token: undefined when its bearer may read metrics. */
export type Verdict = Refusal | undefined;

interface ScrapeAccessOptions {
  /** Asks the API server; rejects where it gives no answer. */
  readonly ask: (token: string) => Promise<Verdict>;
  readonly logger: Logger;
  /** In milliseconds. */
  readonly now?: () => number;
}

/** For so long a right that was taken away, or a token that has ended, still holds; two scrapes of most Prometheus servers. */
const ALLOWED_MS = 60_000;
/** For so long a right that was given does not hold yet. */
const REFUSED_MS = 10_000;
/** Of each sort, the one that was learnt of first giving way: who is refused pushes nobody out who is let in. */
const MOST_KNOWN = 256;
/** Anybody can send any number of tokens: of those that were never let in so many are asked about in a second, so many at once. */
const MOST_STRANGERS = { perSecond: 16, atOnce: 4 };

const none: Refusal = {
  status: 401,
  message:
    "metrics need a token; send that of a ServiceAccount which may get /metrics, as 'Authorization: Bearer TOKEN' (docs/operations.md)",
};
const busy: Refusal = { status: 503, message: 'too many unknown tokens are being looked at; try again in a second' };
const unasked: Refusal = {
  status: 503,
  message: "the API server cannot be asked whose token this is; try again, and see the operator's log for the reason",
};

/** Who may read metrics, as the API server says; what it said is remembered for a while, by a digest of the token. */
export class ScrapeAccess {
  private readonly now: () => number;
  private readonly known = { allowed: new Map<string, Known>(), refused: new Map<string, Known>() };
  private readonly asked = new Map<string, Promise<Verdict>>();
  /** When a stranger's token was asked about, within the last second. */
  private strangers: readonly number[] = [];
  private problem = '';

  constructor(private readonly options: ScrapeAccessOptions) {
    this.now = options.now ?? Date.now;
  }

  /** @param authorization the header of that name */
  async judge(authorization: string | undefined): Promise<Verdict> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return none;
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.known.allowed.get(key) ?? this.known.refused.get(key);
    if (known !== undefined && known.until > this.now()) return known.verdict;
    return this.asked.get(key) ?? this.ask(key, token);
  }

  private ask(key: string, token: string): Promise<Verdict> | Refusal {
    if (!this.known.allowed.has(key) && !this.hasPlace()) return busy;
    const asked = this.options
      .ask(token)
      .then((verdict) => this.learn(key, verdict))
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.asked.delete(key));
    this.asked.set(key, asked);
    return asked;
  }

  /** Takes a stranger's place, if there is one. */
  private hasPlace(): boolean {
    const time = this.now();
    this.strangers = this.strangers.filter((at) => time - at < 1_000);
    if (this.strangers.length >= MOST_STRANGERS.perSecond || this.asked.size >= MOST_STRANGERS.atOnce) return false;
    this.strangers = [...this.strangers, time];
    return true;
  }

  private learn(key: string, verdict: Verdict): Verdict {
    this.problem = '';
    const { allowed, refused } = this.known;
    const [known, other] = verdict === undefined ? [allowed, refused] : [refused, allowed];
    other.delete(key);
    known.delete(key);
    known.set(key, { verdict, until: this.now() + (verdict === undefined ? ALLOWED_MS : REFUSED_MS) });
    const [first = ''] = known.keys();
    if (known.size > MOST_KNOWN) known.delete(first);
    return verdict;
  }

  /** Each reason is told once. */
  private fail(error: unknown): Refusal {
    const problem = describeError(error);
    if (problem !== this.problem) this.options.logger.warn({ problem }, 'cannot tell who may read metrics; nobody may');
    this.problem = problem;
    return unasked;
  }
}

interface Known {
  readonly verdict: Verdict;
  readonly until: number;
}
