import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type * as api from '@kubernetes/client-node';
import { describeError } from '../wording/errors.ts';
import { paths } from '../contract.ts';
import type { DeepPartial } from '../api/objects.ts';
import { resourcePath } from '../kubernetes/http/paths.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { printable } from '../wording/printable.ts';

interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly message: string;
}

/** Undefined if the token may read metrics. */
export type Verdict = Refusal | undefined;

interface ScrapeAccessOptions {
  /** Rejects if the API server does not answer. */
  readonly ask: (token: string) => Promise<Verdict>;
  readonly logger: Logger;
}

/** A revoked right or an expired token works for this time: two scrapes of most Prometheus servers. */
const ALLOWED_MS = 60_000;
/** The oldest is dropped. */
const MAX_ALLOWED = 256;
/** Any client can send any number of tokens, so checks of those that are not allowed are limited, also per client. */
const MAX_DENIED = { perSecond: 16, concurrent: 4, ofClient: { perSecond: 2, concurrent: 1 } };

interface Check {
  readonly at: number;
  readonly key: string;
  readonly client: string | undefined;
}

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

/** Asks the API server, and caches the digest of a token that is allowed. */
export class ScrapeAccess {
  /** The time until which each is allowed without another check. */
  private readonly allowed = new Map<string, number>();
  private readonly asked = new Map<string, Promise<Verdict>>();
  /** Checks of unknown tokens that began within the last second, or have no answer. */
  private strangers: Check[] = [];
  private problem = '';

  constructor(private readonly options: ScrapeAccessOptions) {}

  /** `client` is its address. */
  async judge(authorization: string | undefined, client: string | undefined): Promise<Verdict> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return none;
    const key = createHash('sha256').update(token).digest('base64');
    if ((this.allowed.get(key) ?? -Infinity) > performance.now()) return undefined;
    return this.asked.get(key) ?? this.ask(key, token, client);
  }

  private ask(key: string, token: string, client: string | undefined): Promise<Verdict> | Refusal {
    if (!this.allowed.has(key) && !this.hasPlace(key, client)) return busy;
    const asked = this.options
      .ask(token)
      .then((verdict) => this.learn(key, verdict))
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.asked.delete(key));
    this.asked.set(key, asked);
    return asked;
  }

  private hasPlace(key: string, client: string | undefined): boolean {
    const time = performance.now();
    this.strangers = this.strangers.filter(({ at, key: own }) => time - at < 1_000 || this.asked.has(own));
    const own = this.strangers.filter((each) => each.client === client);
    if (this.isFull(this.strangers, MAX_DENIED) || this.isFull(own, MAX_DENIED.ofClient)) return false;
    this.strangers.push({ at: time, key, client });
    return true;
  }

  private isFull(checks: readonly Check[], { perSecond, concurrent }: typeof MAX_DENIED.ofClient): boolean {
    return checks.length >= perSecond || checks.filter(({ key }) => this.asked.has(key)).length >= concurrent;
  }

  private learn(key: string, verdict: Verdict): Verdict {
    this.problem = '';
    this.allowed.delete(key);
    if (verdict !== undefined) return verdict;
    this.allowed.set(key, performance.now() + ALLOWED_MS);
    const [first = ''] = this.allowed.keys();
    if (this.allowed.size > MAX_ALLOWED) this.allowed.delete(first);
    return undefined;
  }

  /** Logs each reason once. */
  private fail(error: unknown): Refusal {
    const problem = describeError(error);
    if (problem !== this.problem)
      this.options.logger.warn({ problem }, 'metrics access check failed, denying requests');
    this.problem = problem;
    return unasked;
  }
}

/** Prometheus itself waits for 10 s. */
const PATIENCE_MS = 4_000;

/** Asks as Kubernetes' own components do: whose token it is, and if that user may get `/metrics`. */
export const tokenReviewer =
  (transport: Transport) =>
  async (token: string): Promise<Verdict> => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const ask = async (group: string, plural: string, kind: string, spec: object): Promise<unknown> => {
      const path = resourcePath({ group, version: 'v1', plural });
      const asked = { apiVersion: `${group}/v1`, kind, spec };
      // Nothing is stored, so the request can be repeated.
      const { body } = await transport.request({ method: 'POST', path, body: asked, repeatable: true, signal });
      return (body as { readonly status?: unknown }).status ?? {};
    };
    const review = await ask('authentication.k8s.io', 'tokenreviews', 'TokenReview', { token });
    const { authenticated, user = {} } = review as DeepPartial<api.V1TokenReviewStatus>;
    if (authenticated !== true) return unknown;
    const { username = '', uid, groups, extra } = user;
    const access = await ask('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview', {
      user: username,
      uid,
      groups,
      extra,
      nonResourceAttributes: { path: paths.metrics, verb: 'get' },
    });
    return (access as DeepPartial<api.V1SubjectAccessReviewStatus>).allowed === true ? undefined : forbidden(username);
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
