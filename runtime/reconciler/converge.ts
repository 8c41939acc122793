import type { Logger } from 'pino';
import { annotations } from '../contract.ts';
import { decide } from '../injection/decide.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { InjectorSettings, Metadata, NamespacePolicy, PatchOperation, Workload } from '../injection/types.ts';
import { isConflict, isNotFound } from '../kubernetes/errors.ts';
import type { Reporter } from './reporter.ts';
import type { WorkloadRecord, WorkloadStore } from './workload-store.ts';

export interface ConvergeContext {
  readonly store: WorkloadStore;
  readonly reporter: Reporter;
  readonly injector: InjectorSettings;
  readonly renew: boolean;
  readonly policy: (namespace: string) => NamespacePolicy;
  readonly read: (record: WorkloadRecord) => Promise<Workload>;
  /** Writes a patch that holds only for this resourceVersion; answers with the metadata that results. */
  readonly write: (
    record: WorkloadRecord,
    resourceVersion: string,
    patch: readonly PatchOperation[],
  ) => Promise<Metadata>;
  readonly logger: Logger;
  readonly onChanged: (change: 'added' | 'updated' | 'removed', missed: boolean) => void;
  readonly now: () => string;
}

/** Somebody else writes the same object; each time it is read again, and after so many times the backoff takes over. */
const ATTEMPTS = 5;

/**
 * Brings one workload to where its namespace's policy wants it, and tells of it by an event. Returns whether it was
 * changed; rejects when the API server does not take the change, after an event that says why.
 */
export async function converge(
  record: WorkloadRecord,
  fresh: Workload | undefined,
  context: ConvergeContext,
): Promise<boolean> {
  let workload = fresh;
  for (let attempt = 1; ; attempt += 1) {
    try {
      workload ??= await context.read(record);
      return await changeOnce(record, workload, context);
    } catch (error) {
      if (isNotFound(error)) {
        context.store.delete(record.kind, record.namespace, record.name, record.uid);
        record.settled = true;
        return false;
      }
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      workload = undefined;
    }
  }
}

async function changeOnce(record: WorkloadRecord, workload: Workload, context: ConvergeContext): Promise<boolean> {
  const policy = context.policy(record.namespace);
  const decision = decide({
    workload,
    operation: 'RECONCILE',
    policy,
    injector: context.injector,
    now: context.now(),
    by: 'controller',
    renew: context.renew,
  });
  if (decision.action === 'none') {
    context.store.upsert(record.kind, workload.metadata);
    record.settled = true;
    // A write whose answer was lost shows here: it stands in the stamp, and nobody has told of it.
    await context.reporter.stamped(record, policy);
    context.logger.debug({ ...reference(record), reason: decision.message }, 'left as it is');
    if (decision.blocked) await context.reporter.cannot(record, policy, decision.code, decision.message);
    return false;
  }
  const patch = workloadPatch(workload, decision.workload);
  const change = decision.action === 'remove' ? 'removed' : decision.change;
  if (patch.length > 0) {
    const answer = await write(record, { before: workload, after: decision.workload, patch }, context).catch(
      async (error: unknown) => {
        if (!isConflict(error) && !isNotFound(error)) await context.reporter.failed(record, policy, change, error);
        throw error;
      },
    );
    settle(record, answer, context);
  } else record.settled = true;
  const leftAlone = decision.action === 'inject' ? decision.leftAlone : [];
  if (change !== 'none') {
    context.logger.info({ ...reference(record), change, reason: decision.message }, 'workload changed');
    context.onChanged(change, change === 'added' && wasMissed(workload, policy));
    await context.reporter.changed(record, policy, change, leftAlone);
  }
  return patch.length > 0;
}

interface Change {
  readonly before: Workload;
  readonly after: Workload;
  readonly patch: readonly PatchOperation[];
}

async function write(record: WorkloadRecord, change: Change, context: ConvergeContext): Promise<Metadata> {
  const { before, after, patch } = change;
  record.writing = { stamp: after.metadata.annotations?.[annotations.instrumentation] };
  try {
    return await context.write(record, before.metadata.resourceVersion ?? '', patch);
  } finally {
    record.writing = undefined;
  }
}

/** Settled, unless the watch has already shown something newer than the answer. */
function settle(record: WorkloadRecord, answer: Metadata, { store }: ConvergeContext): void {
  const written = store.upsert(record.kind, answer);
  record.settled = written?.record === record && record.generation === (answer.generation ?? 0);
}

/** The webhook should have done it: the workload is younger than the Lumigo that covers it. */
function wasMissed(workload: Workload, policy: NamespacePolicy): boolean {
  return policy.state === 'active' && (workload.metadata.creationTimestamp ?? '') > policy.createdAt;
}

const reference = ({ kind, namespace, name }: WorkloadRecord) => ({ kind: kind.kind, namespace, name });
