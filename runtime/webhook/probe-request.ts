import { randomBytes } from 'node:crypto';
import { fieldManager, probeEchoPrefix, probeLabel, webhooks, type WorkloadKind } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import type { LumigoResource, Problem } from '../injection/types.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { ApiError } from '../kubernetes/http/errors.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { lumigoRef } from '../lumigo/lumigo-store.ts';
import type { Reach } from './judge-probes.ts';

/** The objects that a probe pretends to change. */
export interface Candidate {
  readonly lumigo: LumigoResource;
  /** One that the injector's rule covers; undefined: there is none, so only the rule for Lumigo resources can be tried. */
  readonly workload: (ResourceRef & { readonly kind: WorkloadKind }) | undefined;
}

/** An answer after so much of the API server's patience is one that it gave without the webhook. */
const TIMED_OUT = 0.9;

/**
 * Has an API server make a change that it forgets again: of a pod template, so that the injector's own rule and conditions decide
 * whether the webhook is called. A refusal by another policy, or a missing object, proves nothing; then a Lumigo is tried.
 */
export async function probeOnce(client: Client, candidate: Candidate, timeoutSeconds: number): Promise<Reach> {
  const { workload, lumigo } = candidate;
  if (workload !== undefined) {
    const tried = await ask(client, workload, inTemplate(workload.kind), timeoutSeconds);
    if (!('unknown' in tried) || tried.unanswered) return 'reached' in tried ? { reached: 'injector' } : tried;
  }
  return ask(client, lumigoRef(lumigo), () => ({}), timeoutSeconds);
}

type Change = (probe: string) => object;

const inTemplate =
  ({ template }: WorkloadKind): Change =>
  (probe) =>
    template.reduceRight<object>((inner, key) => ({ [key]: inner }), {
      metadata: { annotations: { [probeLabel]: probe } },
    });

async function ask(client: Client, ref: ResourceRef, change: Change, timeoutSeconds: number): Promise<Reach> {
  const probe = randomBytes(8).toString('hex');
  const started = performance.now();
  const body = { ...change(probe), metadata: { labels: { [probeLabel]: probe } } };
  const options = { fieldManager, dryRun: true, metadataOnly: true, timeoutMs: (timeoutSeconds + 5) * 1_000 };
  try {
    const { warnings } = await client.patch(ref, { kind: 'merge', body }, options);
    if (warnings.some((text) => text.includes(probeEchoPrefix + probe))) return { reached: 'lumigoes' };
    return { unreached: unreachable(performance.now() - started, timeoutSeconds) };
  } catch (error) {
    const message = describeError(error);
    // The webhook has `failurePolicy: Fail` where its user set that.
    if ([webhooks.injector, webhooks.lumigoes].some((name) => message.includes(name)))
      return { unreached: { reason: 'ProbeRefused', message } };
    return { unknown: message, unanswered: !(error instanceof ApiError) };
  }
}

const consequence =
  'Until it does, the operator instruments new workloads after they are created, which restarts their pods.';

/** Why an answer came without the webhook's echo: it took as long as the API server waits, or it was quick. */
export function unreachable(tookMs: number, timeoutSeconds: number): Problem {
  if (tookMs > timeoutSeconds * 1_000 * TIMED_OUT)
    return {
      reason: 'ProbeTimedOut',
      message: `The API server gets no answer from the injector webhook. ${consequence} Usual causes are (1) a firewall before the nodes, (2) a NetworkPolicy, and (3) a CNI that the control plane does not share (EKS with a custom CNI). On private GKE clusters, allow the webhook's port 9443 from the control plane`,
    };
  return {
    reason: 'ProbeFailed',
    message: `The API server did not call the injector webhook, or could not trust its certificate. ${consequence} Check that the MutatingWebhookConfiguration exists, with the rules, selectors and conditions of the installation. Check that its caBundle belongs to the certificate of the webhook, and that the webhook's Service has endpoints.`,
  };
}
