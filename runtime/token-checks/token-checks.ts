import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CredentialCache } from '../credentials/cache.ts';
import { sourceOf, type Credential, type Replaced, type TokenSource } from '../credentials/credential.ts';
import { describeError } from '../wording/errors.ts';
import { holds, isFalse } from '../injection/policy.ts';
import type { LumigoResource } from '../injection/types.ts';
import { pods as podKind } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { Metrics } from '../observability/metrics.ts';
import { askEndpoint } from './ask-endpoint.ts';
import { isFormer, toRestart, type RunningPod } from './decide-former.ts';
import { tokenSeen, type TokenSeen } from './decide-seen.ts';
import { APART_MS, askAt, firstDue, heard, findAt, type Asked, type FormerPods, type Found } from './plan-checks.ts';

interface TokenChecksOptions {
  /** Where the telemetry proxy sends to: a URL without a slash at its end. */
  readonly endpoint: string;
  /** May list pods. */
  readonly client: Client;
  readonly lumigoes: LumigoStore;
  readonly credentials: Pick<CredentialCache, 'get'>;
  readonly metrics: Pick<Metrics, 'refusedTokens' | 'formerTokenPods'>;
  readonly logger: Logger;
  /** Told of each namespace again and again; undefined: it has no token any more. */
  readonly onSeen: (namespace: string, seen: TokenSeen | undefined) => void;
  readonly signal: AbortSignal;
}

/** A namespace under whose token telemetry is sent. */
interface Tenant {
  readonly namespace: string;
  readonly source: TokenSource;
  readonly token: string;
  readonly replaced: Replaced | undefined;
}

type Place = Pick<Tenant, 'namespace' | 'source'>;

const PAGE_SIZE = 100;

/** Finds out, for one term, what no Secret tells of a token: that Lumigo refuses it, and that pods go on with the one before it. */
export class TokenChecks {
  private readonly asked = new Map<string, Asked>();
  private readonly former = new Map<string, Found>();
  private reported: ReadonlySet<string> = new Set();

  constructor(private readonly options: TokenChecksOptions) {}

  /** Works until the signal is aborted. */
  async run(): Promise<void> {
    const { metrics } = this.options;
    await Promise.all([
      this.repeat((tenants) => this.ask(tenants)),
      this.repeat((tenants) => this.findFormerPods(tenants)),
    ]);
    metrics.refusedTokens.reset();
    metrics.formerTokenPods.reset();
  }

  private async repeat(check: (tenants: readonly Tenant[]) => Promise<void>): Promise<void> {
    const { signal, logger } = this.options;
    for (let failures = 0; !signal.aborted;) {
      const problem = await check(this.tenants()).then(() => undefined, describeError);
      failures = problem === undefined ? 0 : failures + 1;
      if (signal.aborted) return;
      if (problem !== undefined)
        logger[failures === 1 ? 'warn' : 'debug']({ problem }, 'cannot check tokens and their pods, retrying');
      this.report();
      await sleep(APART_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private tenants(): readonly Tenant[] {
    const { lumigoes, credentials } = this.options;
    return lumigoes.namespaces().flatMap((namespace) => {
      const acting = lumigoes.acting(namespace);
      if (acting === undefined || !holds(acting.status, 'Active')) return [];
      const source = sourceOf(acting);
      const credential = credentials.get(source);
      if (credential?.token === undefined) return [];
      return [{ namespace, source, token: credential.token, replaced: replacedOf(credential, acting) }];
    });
  }

  /** Asks about one token, which several namespaces may share. */
  private async ask(tenants: readonly Tenant[]): Promise<void> {
    const { endpoint, signal } = this.options;
    const tokens = new Set(tenants.map(({ token }) => token));
    for (const token of this.asked.keys()) if (!tokens.has(token)) this.asked.delete(token);
    const token = firstDue(tokens, (each) => askAt(this.asked.get(each)), performance.now());
    if (token === undefined) return;
    const status = await askEndpoint(endpoint, token, signal);
    this.asked.set(token, heard(status, performance.now(), this.asked.get(token)));
  }

  /** Looks at the pods of one namespace whose token was replaced. */
  private async findFormerPods(tenants: readonly Tenant[]): Promise<void> {
    const replaced = tenants.flatMap((each) => (each.replaced === undefined ? [] : { ...each, ...each.replaced }));
    const dueAt = ({ namespace, until }: { namespace: string; until: string }) =>
      findAt(this.former.get(namespace), until, Date.now());
    const tenant = firstDue(replaced, dueAt, performance.now());
    if (tenant === undefined) return;
    const former = await this.formerPods(tenant);
    this.former.set(tenant.namespace, { ...former, at: performance.now(), replacedAt: tenant.until });
  }

  private async formerPods({ namespace, source, ...replaced }: Place & Replaced): Promise<FormerPods> {
    const { client, signal } = this.options;
    const workloads = new Set<string>();
    let pods = 0;
    const running = { fieldSelector: 'status.phase=Running', limit: PAGE_SIZE, signal };
    for await (const { items } of client.pages({ ...podKind, namespace }, running))
      for (const pod of items as unknown as readonly RunningPod[]) {
        if (!isFormer(pod, source, replaced)) continue;
        pods += 1;
        workloads.add(toRestart(pod));
      }
    return { pods, workloads: [...workloads].toSorted() };
  }

  private report(): void {
    const { onSeen } = this.options;
    const tenants = this.tenants();
    const present = new Set(tenants.map(({ namespace }) => namespace));
    for (const namespace of this.reported) {
      if (present.has(namespace)) continue;
      this.former.delete(namespace);
      this.count(namespace, {});
      onSeen(namespace, undefined);
    }
    this.reported = present;
    for (const { namespace, source, token, replaced } of tenants) {
      const [asked, found] = [this.asked.get(token), this.former.get(namespace)];
      this.count(namespace, { asked, found });
      onSeen(namespace, tokenSeen(source, replaced, { asked, found }));
    }
  }

  private count(namespace: string, { asked, found }: { asked?: Asked | undefined; found?: Found | undefined }): void {
    const { refusedTokens, formerTokenPods } = this.options.metrics;
    if (asked?.verdict === 'refused') refusedTokens.set({ namespace }, 1);
    else refusedTokens.remove({ namespace });
    if (found !== undefined && found.pods > 0) formerTokenPods.set({ namespace }, found.pods);
    else formerTokenPods.remove({ namespace });
  }
}

/** A manager that saw no other token there knows of one by what an earlier leader said in the status. */
const replacedOf = (
  { replaced, writtenAt }: Credential & { token: string },
  { status }: LumigoResource,
): Replaced | undefined =>
  replaced ?? (writtenAt !== undefined && isFalse(status, 'TokenCurrent') ? { until: writtenAt } : undefined);
