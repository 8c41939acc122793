import { unlessAborted } from '../async/aborted.ts';
import { backoffMs, retrying } from '../async/retrying.ts';
import { Debounce } from '../async/debounce.ts';
import type { MonitoredEntry, RuntimeConfig } from '../config/config.ts';
import { lumigo as contract } from '../contract.ts';
import { credentialIn, secretReader } from '../credentials/credential.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isAlreadyExists, undefinedIf, undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchKind, type Watching } from '../kubernetes/watch/watches.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { describeError } from '../wording/errors.ts';
import { Marks } from './marks.ts';
import { findEntry, getFlags, planMonitoring, type TokenPlace } from './plan-monitoring.ts';

interface MonitoringOptions extends Omit<Watching, 'signal'> {
  readonly config: RuntimeConfig;
  readonly lumigoes: LumigoStore;
  readonly synced: Promise<void>;
}

type Context = Pick<MonitoringOptions, 'config' | 'lumigoes' | 'logger'> & { readonly client: Client };

const pause = { quietMs: 20, atMostMs: 200 };
const IDLE_MS = 60 * 60_000;
const unlessThere = undefinedIf(isAlreadyExists);

interface Seen {
  readonly namespace: string;
  /** A namespace that is created again is another one. */
  readonly uid: string;
  readonly entry: MonitoredEntry | undefined;
}

type Task = Seen & { readonly entry: MonitoredEntry };

/** Creates a `Lumigo` once in each monitored namespace, now or later. One that is deleted stays deleted (marks.ts). */
export async function monitorNamespaces(options: MonitoringOptions, term: LeadingContext): Promise<void> {
  const { config, transport, logger, lumigoes, synced } = options;
  const { signal } = term;
  const monitored = config.monitoredNamespaces;
  if (monitored.length === 0) return;
  await unlessAborted(synced, signal);
  const client = termClient(transport, term);
  // Without the marks, a `Lumigo` that was deleted would be created again.
  const failure = 'cannot read the record of monitored namespaces, retrying';
  const read = () => Marks.read(client, config);
  const marks = await retrying(read, { signal, logger, failure });
  if (marks === undefined) return;
  const changes = new Debounce(pause);
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
  const isDue = (seen: Seen): seen is Task => seen.entry !== undefined && marks.get(seen.uid) !== getFlags(seen.entry);
  const reported = new Set<string>();
  for (let failures = 0; !signal.aborted;) {
    for (const task of handler.values().filter(isDue)) {
      const { namespace, uid } = task;
      const problem = await monitor({ config, lumigoes, logger, client }, task, marks).then(
        () => undefined,
        describeError,
      );
      if (problem === undefined) reported.delete(uid);
      else logger[reported.has(uid) ? 'debug' : 'warn']({ namespace, problem }, 'cannot monitor a namespace, retrying');
      if (problem !== undefined) reported.add(uid);
    }
    const there = handler.values();
    await marks.keepOnly(new Set(there.map(({ uid }) => uid))).catch(() => undefined);
    failures = there.some(isDue) ? failures + 1 : 0;
    await changes.wait(failures === 0 ? IDLE_MS : backoffMs(failures), signal);
  }
  await watch.stopped;
}

async function monitor(context: Context, { namespace, uid, entry }: Task, marks: Marks): Promise<void> {
  const { config, client, lumigoes, logger } = context;
  const usual = { secretName: config.tokenSecret, secretKey: config.tokenKey };
  const plan = planMonitoring(entry, lumigoes.in(namespace), usual, marks.get(uid));
  const { apiVersion, kind, singular: name } = contract;
  if (plan.kind === 'patch')
    await client.patch({ ...contract, namespace, name }, { kind: 'merge', body: { spec: plan.spec } });
  else if (plan.kind === 'create') {
    await bringToken(context, namespace, plan.place);
    const lumigo = { apiVersion, kind, metadata: { namespace, name }, spec: plan.spec };
    await client.create({ ...contract, namespace }, lumigo).catch(unlessThere);
  }
  await marks.set(uid, getFlags(entry));
  logger.info({ namespace, action: plan.kind }, 'namespace monitored because of monitoredNamespaces');
}

/** Copies the token of the operator's namespace, unless the Secret exists. */
async function bringToken({ config, client }: Context, namespace: string, to: TokenPlace): Promise<void> {
  const place = { namespace: config.operatorNamespace, name: config.tokenSecret, key: config.tokenKey };
  const found = await secretReader(client)(place.namespace, place.name).catch(undefinedIfNotFound);
  const token = found === undefined ? undefined : credentialIn(found, place).token;
  if (token === undefined) return;
  const metadata = { namespace, name: to.secretName };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { [to.secretKey]: token } };
  await client.create({ ...kinds.secrets, namespace }, secret).catch(unlessThere);
}
