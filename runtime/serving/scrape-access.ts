import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type * as api from '@kubernetes/client-node';
import { describeError } from '../wording/errors.ts';
import { paths } from '../contract.ts';
import type { Sparse } from '../api/objects.ts';
import { resourcePath } from '../kubernetes/http/paths.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { printable } from '../wording/printable.ts';

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
    "metrics need a token; send the token of a ServiceAccount that can get /metrics, as 'Authorization: Bearer TOKEN' (docs/operate/monitoring.md)",
};
const busy: Refusal = { status: 503, message: 'too many requests with unknown tokens; try again in a second' };
const unasked: Refusal = {
  status: 503,
  message: 'the API server did not check this token; try again, and see the log of the operator for the reason',
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
    if (problem !== this.problem)
      this.options.logger.warn({ problem }, 'metrics access check failed, denying requests');
    this.problem = problem;
    return unasked;
  }
}

interface Known {
  readonly verdict: Verdict;
  readonly until: number;
}

/** Prometheus itself waits for 10 seconds. */
const PATIENCE_MS = 4_000;

/**
 * Asks the API server whose a token is, and whether he may get `/metrics`: what Kubernetes' own components ask before they show
 * theirs. Rejects where there is no answer.
 */
export const tokenReviewer =
  (transport: Transport) =>
  async (token: string): Promise<Verdict> => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const ask = async (group: string, plural: string, kind: string, spec: object): Promise<unknown> => {
      const path = resourcePath({ group, version: 'v1', plural });
      const asked = { apiVersion: `${group}/v1`, kind, spec };
      // Nothing is stored, so it may be sent again.
      const { body } = await transport.request({ method: 'POST', path, body: asked, repeatable: true, signal });
      return (body as { readonly status?: unknown }).status ?? {};
    };
    const spec = { token };
    const review = await ask('authentication.k8s.io', 'tokenreviews', 'TokenReview', spec);
    const { authenticated, user = {} } = review as Sparse<api.V1TokenReviewStatus>;
    if (authenticated !== true) return unknown;
    const { username = '', uid, groups, extra } = user;
    const access = await ask('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview', {
      ...{ user: username, uid, groups, extra },
      nonResourceAttributes: { path: paths.metrics, verb: 'get' },
    });
    return (access as Sparse<api.V1SubjectAccessReviewStatus>).allowed === true ? undefined : forbidden(username);
  };

const unknown: Verdict = {
  status: 401,
  message:
    'the API server rejects this token because it has expired or is for another cluster or audience; send a current one',
};

const forbidden = (username: string): Verdict => ({
  status: 403,
  message: `'${printable(username)}' cannot read metrics; bind it to a ClusterRole with {nonResourceURLs: [${paths.metrics}], verbs: [get]}`,
});
