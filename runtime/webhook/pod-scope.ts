import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { Debounce } from '../async/debounce.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { fieldManager } from '../contract.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isConflict } from '../kubernetes/http/errors.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import { changesOf, type Watching } from '../kubernetes/watch/watches.ts';
import { webhookRefs, webhooksOf } from '../kubernetes/resources/webhooks.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { describeError } from '../wording/errors.ts';
import { planPodScope } from './plan-pod-scope.ts';

interface PodScopeOptions {
  readonly config: Pick<RuntimeConfig, 'operatorName'>;
  readonly client: Client;
  readonly lumigoes: LumigoStore;
  readonly watching: Watching;
}

const backoff = { firstMs: 500, maxMs: 60_000 };
const IDLE_MS = 60 * 60_000;
const pause = { quietMs: 5, atMostMs: 100 };

/** Whether pods of a namespace are to reach the webhook. */
const isCovered = (policy: NamespacePolicy): boolean => policy.state === 'pods';

/**
 * Keeps the webhook for pods in its configuration, for the namespaces in Pod mode and no other, for as long as this replica leads. It
 * follows the injector's own, so that a new authority is known here as soon as there.
 */
export async function keepPodScope(options: PodScopeOptions): Promise<void> {
  const { lumigoes, watching } = options;
  const { signal, logger } = watching;
  const refs = webhookRefs(options.config);
  const changes = new Debounce(pause);
  lumigoes.onPolicy(() => changes.touch(), signal);
  const others = changesOf(Object.values(refs), watching);
  void (async () => {
    for (; !signal.aborted; changes.touch()) await others.wait(IDLE_MS, signal);
  })();
  for (let failures = 0; !signal.aborted;) {
    const namespaces = lumigoes.namespaces().filter((namespace) => isCovered(lumigoes.policy(namespace)));
    const problem = await write(options.client, refs, namespaces, logger).then(
      () => undefined,
      (error: unknown) => ({ text: describeError(error), isExpected: isConflict(error) }),
    );
    failures = problem === undefined ? 0 : failures + 1;
    if (problem?.isExpected === false && !signal.aborted)
      logger.warn({ problem: problem.text }, 'cannot write the pod webhook, retrying');
    await changes.wait(problem === undefined ? IDLE_MS : backoffMs(failures, backoff, Math.random()), signal);
  }
}

async function write(
  client: Client,
  refs: ReturnType<typeof webhookRefs>,
  namespaces: readonly string[],
  logger: Logger,
) {
  const [injector, there] = await Promise.all([client.find(refs.injector), client.find(refs.pods)]);
  // Who has just taken one away is about to bring it back, or takes all.
  if (injector === undefined || there === undefined) return;
  const wanted = planPodScope(webhooksOf(injector), namespaces);
  if (isDeepStrictEqual(webhooksOf(there), wanted)) return;
  const body = { metadata: { resourceVersion: there.metadata.resourceVersion }, webhooks: wanted };
  await client.patch(refs.pods, { kind: 'merge', body }, { fieldManager });
  logger.info({ namespaces: namespaces.length }, 'pod webhook written');
}
