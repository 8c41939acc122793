import { randomBytes } from 'node:crypto';
import { pause } from '../async/retrying.ts';
import { fieldManager, probeEchoPrefix, probeLabel, webhooks, type WorkloadKind } from '../contract.ts';
import type { LumigoResource, Problem } from '../api/lumigo.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { lumigoRef } from '../lumigo/lumigo-store.ts';
import { describeError } from '../wording/errors.ts';
import { otherFormNote, tooLargeNote } from './review.ts';

export interface Candidate {
  readonly lumigo: LumigoResource;
  readonly workload: (ResourceRef & { readonly kind: WorkloadKind }) | undefined;
}

export type WebhookSeen = Problem | 'working';

interface ProbeOptions {
  readonly client: Client;
  /** None: without a `Lumigo` resource the webhook has nothing to do. */
  readonly candidates: () => readonly Candidate[];
  /** Undefined without a candidate. */
  readonly onResult: (result: WebhookSeen | undefined) => void;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const INTERVAL_MS = 60_000;
/** The webhook or its Service may be starting, so a first failure is not reported. */
const RECHECK_MS = 5_000;

/** Probes the webhook through the API server. With failurePolicy Ignore an unreachable webhook causes no error. */
export async function probeWebhook(options: ProbeOptions): Promise<void> {
  const { signal } = options;
  let failures = 0;
  let last: Candidate | undefined;
  await pause(RECHECK_MS / 2, signal);
  while (!signal.aborted) {
    last = nextCandidate(options.candidates(), last);
    const result = last && (await probeOnce(options, last));
    if (result !== undefined) failures = result === 'working' ? 0 : failures + 1;
    if (last === undefined || (result !== undefined && failures !== 1)) options.onResult(result);
    await pause(failures === 1 || result === undefined ? RECHECK_MS : INTERVAL_MS, signal);
  }
}

/** Returns that of the next namespace, because an editor decides how the API server answers about its objects. */
export function nextCandidate(all: readonly Candidate[], last: Candidate | undefined): Candidate | undefined {
  const before = all.findIndex(({ lumigo }) => lumigo.metadata.namespace === last?.lumigo.metadata.namespace);
  return all[before + 1] ?? all[0];
}

/** Probes with a workload, so that the injector's own rule and conditions apply, and otherwise with a `Lumigo`. */
async function probeOnce(options: ProbeOptions, { workload, lumigo }: Candidate): Promise<WebhookSeen | undefined> {
  return (workload && (await ask(options, workload, workload.kind.template))) ?? ask(options, lumigoRef(lumigo), []);
}

/** Returns undefined if another policy refuses, the object no longer exists, or there is no answer. */
async function ask(
  { client, timeoutSeconds }: ProbeOptions,
  ref: ResourceRef,
  template: readonly string[],
): Promise<WebhookSeen | undefined> {
  const probe = randomBytes(8).toString('hex');
  const annotated = { metadata: { annotations: { [probeLabel]: probe } } };
  const change = template.reduceRight<object>((inner, key) => ({ [key]: inner }), annotated);
  // Without a pod template, the label alone is the change.
  const body = { ...change, metadata: { labels: { [probeLabel]: probe } } };
  const started = performance.now();
  const options = { fieldManager, dryRun: true, metadataOnly: true, timeoutMs: (timeoutSeconds + 5) * 1_000 };
  try {
    const { warnings } = await client.patch(ref, { kind: 'merge', body }, options);
    const echoes = [probeEchoPrefix + probe, tooLargeNote, otherFormNote];
    if (!warnings.some((text) => echoes.some((echo) => text.startsWith(echo))))
      return unreachable(performance.now() - started, timeoutSeconds);
    return 'working';
  } catch (error) {
    const message = describeError(error);
    return isOwnRefusal(message) ? { reason: 'ProbeRefused', message } : undefined;
  }
}

/** Any refusal of a `Lumigo` has the name of its resource, which is also the name of its webhook. */
export const isOwnRefusal = (message: string): boolean =>
  [webhooks.injector, webhooks.lumigoes].some((name) => message.includes(`webhook "${name}"`));

const consequence =
  'Until it does, the operator instruments new workloads after they are created, which restarts their pods.';

export function unreachable(tookMs: number, timeoutSeconds: number): Problem {
  if (tookMs > 0.9 * timeoutSeconds * 1_000)
    return {
      reason: 'ProbeTimedOut',
      message: `The API server gets no answer from the injector webhook. ${consequence} Usual causes are (1) a firewall before the nodes, (2) a NetworkPolicy, and (3) a CNI that the control plane does not share (EKS with a custom CNI). On private GKE clusters, allow the webhook's port from the control plane`,
    };
  return {
    reason: 'ProbeFailed',
    message: `The API server did not call the injector webhook, or could not trust its certificate. ${consequence} Check that the MutatingWebhookConfiguration exists, with the rules, selectors and conditions of the installation. Check that its caBundle belongs to the certificate of the webhook, and that the webhook's Service has endpoints.`,
  };
}
