import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { labels, workloadKinds, workloads, type WorkloadKind } from '../contract.ts';
import { findOwner, isFinished } from '../injection/eligibility.ts';
import { ourLabel } from '../injection/label.ts';
import { workloadPatch } from '../injection/patch.ts';
import { hasInjection, isUnremovable, uninstrument } from '../injection/remove.ts';
import { findRevert } from '../injection/revert.ts';
import { getInjectionStatus } from '../injection/injection-status.ts';
import { asItOptedIn, keep } from '../injection/standing.ts';
import type { Workload } from '../api/objects.ts';
import { guarded, type Client, readAndChange } from '../kubernetes/http/client.ts';
import type { ListOptions } from '../kubernetes/http/pages.ts';
import { patchAndDisown } from '../kubernetes/resources/managed-fields.ts';
import { abridged } from '../wording/abridged.ts';
import { describeError } from '../wording/errors.ts';

interface Namespaces {
  /** Their workloads stay instrumented. */
  readonly kept: ReadonlySet<string>;
  /** They had a `Lumigo`. In others, an injection of the original operator can be an opt-in (ADR 85). */
  readonly traced: ReadonlySet<string>;
}

const PAGE_SIZE = 50;
const MAX_CONCURRENT_CHANGES = 16;
export const MAX_NAMED = 5;

/**
 * No change begins after `until` (by Date.now). A failure stops no other change. Jobs are immutable. `problems`: a
 * sentence for each workload that stays instrumented. `unclean`: the namespaces of these.
 */
export async function removeInstrumentation(client: Client, known: Namespaces, until: number, signal?: AbortSignal) {
  const problems: string[] = [];
  const late: string[] = [];
  const unclean = new Set<string>();
  let removed = 0;
  await forEachConcurrent(MAX_CONCURRENT_CHANGES, instrumentedWorkloads(client, signal), async ({ kind, workload }) => {
    const { namespace = '', name } = workload.metadata;
    const subject = `${kind.kind} ${namespace}/${name}`;
    // The reason of a malformed template is known without a change, so a late one has it too.
    const isMalformed = isUnremovable(workload) && !known.kept.has(namespace);
    try {
      if (Date.now() < until || isMalformed) {
        if (await clean(client, kind, workload, known)) removed += 1;
        return;
      }
      late.push(subject);
    } catch (error) {
      problems.push(`${subject} stays instrumented: ${describeError(error)}`);
    }
    unclean.add(namespace);
  });
  const hint = 'The event LumigoCannotRemoveInstrumentation says why, if a change was refused';
  if (late.length > 0)
    problems.push(`the deadline passed with ${late.length} still instrumented: ${abridged(late, MAX_NAMED)}. ${hint}`);
  return { removed, problems, unclean };
}

export const isAnyInstrumented = async (client: Client): Promise<boolean> =>
  (await instrumentedWorkloads(client).next()).done !== true;

/** Returns the Jobs that start pods with the injection, because a Job cannot change. */
export async function listInjectedJobs(client: Client, signal: AbortSignal): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const job of workloadsOf(client, workloadKinds.job, { limit: PAGE_SIZE, signal })) {
    const { namespace, name, deletionTimestamp } = job.metadata;
    if (deletionTimestamp === undefined && hasInjection(job) && !isFinished(job)) found.push(`${namespace}/${name}`);
  }
  return found;
}

async function* instrumentedWorkloads(client: Client, signal?: AbortSignal) {
  for (const [kind, options] of lists)
    for await (const workload of workloadsOf(client, kind, { ...options, signal }))
      if (isToClean(workload)) yield { kind, workload };
}

/** The items of a list lack their kind. */
async function* workloadsOf(client: Client, kind: WorkloadKind, options: ListOptions) {
  for await (const { items } of client.pages(kind, options))
    yield* items.map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
}

/** A team or a GitOps tool may have removed the label. Most objects have the hash: the ReplicaSets of Deployments. */
const lists = [
  { labelSelector: labels.autoTrace, limit: PAGE_SIZE },
  { labelSelector: `!${labels.autoTrace},!pod-template-hash`, metadataOnly: true },
].flatMap((options) => workloads.filter(({ mutable }) => mutable).map((kind) => [kind, options] as const));

/**
 * Judges by the operator's records, because others change the labels, and by the pod template. Returns false if the
 * deleted `Lumigo` kept the injection. A Deployment's ReplicaSets have its records. The Deployment changes them.
 */
function isToClean(workload: Workload): boolean {
  const { kind, metadata } = workload;
  if (metadata.deletionTimestamp !== undefined || findOwner(kind, metadata) !== undefined) return false;
  const injectionStatus = getInjectionStatus(metadata);
  if (injectionStatus !== undefined) return injectionStatus.keep !== true;
  return findRevert(metadata) !== undefined || hasInjection(workload) || isUnremovable(workload);
}

async function clean(client: Client, kind: WorkloadKind, listed: Workload, { kept, traced }: Namespaces) {
  const { namespace = '', name } = listed.metadata;
  const ref = { ...kind, namespace, name };
  const isKept = kept.has(namespace);
  const change = async (workload: Workload): Promise<boolean> => {
    if (!isKept && isUnremovable(workload))
      throw new Error('its pod template is malformed, for example because a volume is null. Correct the template');
    const own = traced.has(namespace) ? workload : asItOptedIn(workload);
    const patch = workloadPatch(workload, isKept ? withRecord(workload) : uninstrument(own));
    if (patch.length === 0) return false;
    const { resourceVersion = '' } = workload.metadata;
    const { metadata } = await patchAndDisown(client, ref, guarded(resourceVersion, patch));
    if (!isKept && ourLabel(metadata) !== undefined) throw new Error('the webhook of the operator added it again');
    return !isKept;
  };
  const read = async () => (await client.get(ref)) as Workload;
  return (await readAndChange(listed['spec'] === undefined ? undefined : listed, read, change)) ?? false;
}

/** A later run finds no `Lumigo` that says so. */
function withRecord(workload: Workload): Workload {
  const policy = { kind: 'deleting', lumigo: '', remove: false } as const;
  return keep({ workload, policy, now: new Date().toISOString(), by: 'controller' })?.workload ?? workload;
}
