import { unlessAborted } from '../async/aborted.ts';
import { backoffMs, failureLog, retrying } from '../async/retrying.ts';
import { Debounce } from '../async/debounce.ts';
import type { MonitoredEntry, RuntimeConfig } from '../config/config.ts';
import { lumigo as contract } from '../contract.ts';
import { getInstallationSource, readCredential, type Credential } from '../credentials/credential.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isAlreadyExists, undefinedIf } from '../kubernetes/http/errors.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchKind, type Watching } from '../kubernetes/watch/watches.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { equal } from '../json/values.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { holds } from '../injection/policy.ts';
import { describeError } from '../wording/errors.ts';
import { readMarks, type Marks } from './marks.ts';
import { findEntry, formatMark, getSecretRef, parseMark, planMonitoring } from './plan-monitoring.ts';

interface MonitoringOptions extends Omit<Watching, 'signal'> {
  readonly config: RuntimeConfig;
  readonly lumigoes: LumigoStore;
  readonly synced: Promise<void>;
}

interface Context extends MonitoringOptions {
  readonly client: Client;
  readonly marks: Marks;
  readonly report: ReturnType<typeof failureLog>;
}

const IDLE_MS = 60 * 60_000;
const RETRY_MS = 10_000;
/** The number of namespaces whose marks are written together. */
const BATCH = 100;

interface Seen {
  readonly namespace: string;
  /** A namespace that is created again is another one. */
  readonly uid: string;
  readonly entry: MonitoredEntry | undefined;
}

type Task = Seen & { readonly entry: MonitoredEntry };

/**
 * Creates a `Lumigo` once in each monitored namespace, now or later. One that is deleted stays deleted (marks.ts). A
 * namespace stays due until the operator's namespace has a token for it.
 */
export async function monitorNamespaces(options: MonitoringOptions, term: LeadingContext): Promise<void> {
  const { config, transport, logger, lumigoes, synced } = options;
  const { signal } = term;
  const monitored = config.monitoredNamespaces;
  if (monitored.length === 0) return;
  await unlessAborted(synced, signal);
  const client = termClient(transport, term);
  // Without the marks, a `Lumigo` that was deleted would be created again.
  const failure = 'cannot read the record of monitored namespaces, retrying';
  const marks = await retrying(() => readMarks(client, config), { signal, logger, failure });
  if (marks === undefined) return;
  const changes = new Debounce({ quietMs: 20, atMostMs: 200 });
  // Labels and annotations are left out, because tenants decide how large they are.
  const handler = new Kept<Seen>(
    ({ metadata: { name, uid, labels = {}, deletionTimestamp } }) => {
      const isOpen = deletionTimestamp === undefined && !lumigoes.isExcluded(name);
      return { namespace: name, uid, entry: isOpen ? findEntry(monitored, { name, labels }) : undefined };
    },
    () => changes.touch(),
  );
  const watch = watchKind(kinds.namespaces, { transport, metadataOnly: true, signal, logger, handler });
  await watch.synced;
  const isDue = (seen: Seen): seen is Task =>
    seen.entry !== undefined && marks.get(seen.uid) !== formatMark(seen.entry);
  const report = failureLog(logger, 'cannot monitor a namespace, retrying');
  const context = { ...options, client, marks, report };
  for (let passes = 1, renewAt = 0; !signal.aborted;) {
    if (performance.now() >= renewAt) {
      const problem = await marks.renewOwners().then(() => undefined, describeError);
      report({ marks: 'owners' }, problem);
      if (problem === undefined) renewAt = performance.now() + IDLE_MS;
    }
    const there = handler.values();
    const due = there.filter(isDue);
    if (due.length > 0) await monitorAll(context, due);
    const keeping = marks.keepOnly(new Set(there.map(({ uid }) => uid)));
    await keeping.catch((error) => logger.debug({ problem: describeError(error) }, 'cannot remove stale marks'));
    const isPending = performance.now() >= renewAt || there.some(isDue);
    const hasChanged = await changes.wait(isPending ? backoffMs(passes, { maxMs: RETRY_MS }) : IDLE_MS, signal);
    passes = hasChanged ? 1 : passes + 1;
  }
  await watch.stopped;
}

async function monitorAll(context: Context, tasks: readonly Task[]): Promise<void> {
  const { config, client, report } = context;
  const credential = await readCredential(client, getInstallationSource(config));
  for (let at = 0; at < tasks.length; at += BATCH) {
    const batch = monitorBatch(context, tasks.slice(at, at + BATCH), credential);
    report({ marks: 'all' }, await batch.then(() => undefined, describeError));
  }
}

async function monitorBatch(context: Context, tasks: readonly Task[], credential: Credential): Promise<void> {
  const { logger, marks, report } = context;
  const changed: Awaited<ReturnType<typeof monitor>>[] = [];
  for (const task of tasks) {
    const { namespace, uid } = task;
    const outcome = await monitor(context, task, credential).catch(describeError);
    if (typeof outcome === 'object' && marks.get(uid) !== outcome.mark) changed.push(outcome);
    report({ namespace, uid }, typeof outcome === 'object' ? undefined : outcome);
  }
  await marks.set(changed.map(({ uid, mark }) => [uid, mark]));
  for (const { fields } of changed) logger.info(fields, 'namespace monitored because of monitoredNamespaces');
}

async function monitor(context: Context, { namespace, uid, entry }: Task, credential: Credential) {
  const { config, client, lumigoes, marks } = context;
  const before = marks.get(uid);
  const secretRef = getSecretRef(entry, getInstallationSource(config));
  const { kind: action, spec } = planMonitoring(entry, lumigoes.in(namespace), secretRef, before);
  const isNew = action === 'create';
  const lacksToken = isNew || (await waitsForToken(context, namespace, secretRef, before));
  const { token, problem }: Partial<Credential> = lacksToken ? credential : {};
  const { apiVersion, kind, singular: name } = contract;
  const create = (collection: ResourceRef, object: Manifest) =>
    client.create({ ...collection, namespace }, object).catch(undefinedIf(isAlreadyExists));
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: secretRef.name } };
  if (token !== undefined) await create(kinds.secrets, { ...secret, stringData: { [secretRef.key]: token } });
  if (isNew) await create(contract, { apiVersion, kind, metadata: { namespace, name }, spec });
  if (action === 'patch') await client.patch({ ...contract, namespace, name }, { kind: 'merge', body: { spec } });
  const mark = formatMark(entry, problem !== undefined);
  return { uid, mark, fields: { namespace, action, problem: problem?.message } };
}

/** An adopted `Lumigo` may lack its Secret. A user may have deleted one meanwhile, or the watch has not reported it yet. */
async function waitsForToken({ lumigoes, client }: Context, namespace: string, secretRef: object, mark?: string) {
  if (mark !== undefined && parseMark(mark).needsToken !== true) return false;
  const existing = lumigoes.in(namespace);
  const ref = { ...contract, namespace, name: contract.singular };
  if (existing.length === 0) return (await client.find(ref)) !== undefined;
  const waiting = existing.filter(({ status }) => !holds(status, 'Active'));
  return waiting.some(({ spec }) => equal(spec?.lumigoToken?.secretRef, secretRef));
}
