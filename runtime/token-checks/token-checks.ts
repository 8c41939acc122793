import { unlessAborted } from '../async/aborted.ts';
import { pause } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { CredentialCache } from '../credentials/cache.ts';
import { getInstallationSource, toTokenSource, type TokenSource } from '../credentials/credential.ts';
import { holds } from '../injection/policy.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { setUnlessZero, type Metrics } from '../observability/metrics.ts';
import { askEndpoint } from './ask-endpoint.ts';
import { APART_MS, heard, keepPresent, nextToken, tokenSeen, type Asked, type TokenSeen } from './plan-checks.ts';
import type { LeadingContext } from '../kubernetes/lease/leading-term.ts';

interface TokenChecksOptions {
  readonly config: RuntimeConfig;
  readonly lumigoes: LumigoStore;
  readonly credentials: Pick<CredentialCache, 'get'>;
  readonly metrics: Pick<Metrics, 'refusedTokens'>;
  /** `seen` is undefined if the namespace no longer has a token. */
  readonly onSeen: (namespace: string, seen: TokenSeen | undefined) => void;
  readonly synced: Promise<void>;
}

interface Tenant {
  readonly source: TokenSource;
  readonly token: string;
  readonly generation: number | undefined;
}

/** Finds out on the leader which tokens Lumigo refuses, because no Secret shows that. */
export class TokenChecks {
  readonly name = 'token checks';
  readonly needsToLead = true;
  private asked = new Map<string, Asked>();
  private wasNew = false;
  private reported: ReadonlySet<string> = new Set();

  constructor(private readonly options: TokenChecksOptions) {}

  readonly run = async ({ signal }: LeadingContext): Promise<void> => {
    const { metrics, synced } = this.options;
    await unlessAborted(synced, signal);
    this.asked.clear();
    this.reported = new Set();
    while (!signal.aborted) {
      await this.ask(signal);
      if (signal.aborted) break;
      this.report();
      await pause(APART_MS, signal);
    }
    metrics.refusedTokens.reset();
  };

  private tenants(): readonly Tenant[] {
    const { lumigoes, credentials, config } = this.options;
    const effective = lumigoes.namespaces().flatMap((namespace) => lumigoes.effective(namespace) ?? []);
    const active = effective.filter(({ status }) => holds(status, 'Active'));
    const named = active.map((lumigo) => ({ source: toTokenSource(lumigo), generation: lumigo.metadata.generation }));
    // The token of the cluster's metrics.
    const own = config.nodeMetrics ? [{ source: getInstallationSource(config), generation: undefined }] : [];
    return [...named, ...own].flatMap((each) => {
      const token = credentials.get(each.source)?.token;
      return token === undefined ? [] : { ...each, token };
    });
  }

  /** Several namespaces may share the token. */
  private async ask(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    this.asked = keepPresent(this.tenants(), this.asked, now);
    const next = nextToken(this.asked, now, this.wasNew);
    if (next === undefined) return;
    const [token, before] = next;
    this.wasNew = before.isNew === true;
    const status = await askEndpoint(this.options.config.endpoint, token, signal);
    this.asked.set(token, heard(status, performance.now(), before));
  }

  private report(): void {
    const tenants = this.tenants();
    const present = new Set(tenants.map(({ source }) => source.namespace));
    for (const namespace of this.reported) if (!present.has(namespace)) this.tell(namespace, undefined);
    this.reported = present;
    for (const { source, token, generation } of tenants)
      this.tell(source.namespace, { generation, ...tokenSeen(source, this.asked.get(token)) });
  }

  private tell(namespace: string, seen: TokenSeen | undefined): void {
    const { metrics, onSeen } = this.options;
    setUnlessZero(metrics.refusedTokens, { namespace }, typeof seen?.accepted === 'object' ? 1 : 0);
    onSeen(namespace, seen);
  }
}
