import { Debounce } from '../async/debounce.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { parseMonitored, type MonitoredEntry } from '../config/monitored.ts';
import { lumigo as contract } from '../contract.ts';
import { credentialIn, secretReader } from '../credentials/credential.ts';
import type { Metadata } from '../injection/types.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isAlreadyExists, undefinedIf, undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import { watchKind, type Watching } from '../kubernetes/watch/watches.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { describeError } from '../wording/errors.ts';
import { entryOf, planMonitoring, type TokenPlace } from './plan-monitoring.ts';

interface MonitoringOptions extends Watching {
  readonly config: RuntimeConfig;
  readonly client: Client;
  readonly lumigoes: LumigoStore;
}

const pause = { quietMs: 20, atMostMs: 200 };
const backoff = { firstMs: 500, maxMs: 60_000 };
const IDLE_MS = 60 * 60_000;
/** What is there already is as good. */
const unlessThere = undefinedIf(isAlreadyExists);

interface Task {
  readonly namespace: string;
  readonly entry: MonitoredEntry;
  failures: number;
}

/**
 * Sees to the namespaces that the settings monitor, once each in a leader's term: those that are there, and those that come or get
 * the labels later. A Lumigo that somebody deletes afterwards stays deleted, and nobody's Lumigo is deleted here.
 */
export async function monitorNamespaces(options: MonitoringOptions): Promise<void> {
  const { config, transport, logger, signal } = options;
  const monitored = parseMonitored(config.monitoredNamespaces);
  if (monitored.length === 0) return;
  const changes = new Debounce(pause);
  /** By uid, so that a namespace that was deleted and created again is another one. */
  const tasks = new Map<string, Task>();
  const done = new Set<string>();
  const observe = ({ name = '', uid = '', labels = {}, deletionTimestamp }: Metadata): void => {
    const isOpen = deletionTimestamp === undefined && !options.lumigoes.isExcluded(name) && !done.has(uid);
    const entry = isOpen ? entryOf(monitored, { name, labels }) : undefined;
    if (entry === undefined) return void tasks.delete(uid);
    tasks.set(uid, { namespace: name, entry, failures: tasks.get(uid)?.failures ?? 0 });
    changes.touch();
  };
  const handler = new Kept<Metadata>(
    ({ metadata }) => metadata,
    (now, before) => {
      observe(now ?? { ...before, deletionTimestamp: '' });
      if (now === undefined) done.delete(before?.uid ?? '');
    },
  );
  const { stopped } = watchKind(kinds.namespaces, { transport, metadataOnly: true, signal, logger, handler });
  const attempt = async (uid: string, task: Task): Promise<number> => {
    const problem = await monitor(options, task).then(() => undefined, describeError);
    if (problem === undefined) {
      tasks.delete(uid);
      done.add(uid);
      return IDLE_MS;
    }
    task.failures += 1;
    const level = task.failures === 1 ? 'warn' : 'debug';
    logger[level]({ namespace: task.namespace, problem }, 'a namespace cannot be monitored yet');
    return backoffMs(task.failures, backoff, Math.random());
  };
  while (!signal.aborted) {
    const waits: number[] = [];
    for (const [uid, task] of [...tasks]) waits.push(await attempt(uid, task));
    await changes.wait(Math.min(IDLE_MS, ...waits), signal);
  }
  await stopped;
}

async function monitor(options: MonitoringOptions, { namespace, entry }: Task): Promise<void> {
  const { config, client, lumigoes, logger } = options;
  const usual = { secretName: config.tokenSecret, secretKey: config.tokenKey };
  const plan = planMonitoring(entry, lumigoes.in(namespace), usual);
  if (plan.action === 'none') return;
  const { apiVersion, kind, singular: name } = contract;
  if (plan.action === 'patch')
    await client.patch({ ...contract, namespace, name }, { kind: 'merge', body: { spec: plan.spec } });
  else {
    await bringToken(options, namespace, plan.place);
    const lumigo = { apiVersion, kind, metadata: { namespace, name }, spec: plan.spec };
    await client.create({ ...contract, namespace }, lumigo).catch(unlessThere);
  }
  logger.info({ namespace, action: plan.action }, 'namespace monitored, as monitoredNamespaces says');
}

/** The token of the operator's own namespace, if there is one, where none stands. */
async function bringToken({ config, client }: MonitoringOptions, namespace: string, to: TokenPlace): Promise<void> {
  const place = { namespace: config.operatorNamespace, name: config.tokenSecret, key: config.tokenKey };
  const found = await secretReader(client)(place.namespace, place.name).catch(undefinedIfNotFound);
  const token = found === undefined ? undefined : credentialIn(found, place).token;
  if (token === undefined) return;
  const metadata = { namespace, name: to.secretName };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { [to.secretKey]: token } };
  await client.create({ ...kinds.secrets, namespace }, secret).catch(unlessThere);
}
