import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../wording/errors.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { askToReload, end, findCollector, runs, upSince, type CollectorProcess } from './collector.ts';
import { changeLoopKey, configurationFile, readLoopKey, writeConfiguration } from './files.ts';
import { initialMs, planReload, restMs, stillWanted, textOf, type Assignment, type Failure } from './plan-reload.ts';
import { collectedKinds } from './render-collection.ts';
import type { Collection, ProxySettings } from './types.ts';

interface ReloaderOptions {
  /** With the rights of the collector's own account. */
  readonly client: Client;
  /** A reload took, or did not: then why. */
  readonly onReload: (outcome: { readonly problem?: string; readonly assignment: Assignment | undefined }) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** A collector that reads the cluster first waits for that for 10 s. */
const UP_MS = 20_000;
const POLL_MS = 50;
/** A collector that is up has sent within this time everything until the versions from before its reload. */
const CATCH_UP_MS = 2_000;

type Versions = Collection['since'];

/**
 * Makes the collector collect by a new configuration and a signal, and checks that it took the configuration. The file that it
 * finds after a crash says to forward only. So it starts in every state of the cluster, and collects after the next reload.
 */
export class Reloader {
  private known: { readonly process: CollectorProcess; readonly running: string | undefined } | undefined;
  private lastGood: Assignment | undefined;
  /** The namespaces whose collected data the collector sends, now or as soon as it is up. */
  private sending: Assignment | undefined;
  /** Where the watches of its configuration begin, and the versions when that was written. */
  private watches: { readonly since: Versions; readonly present: Versions } = { since: {}, present: {} };
  /** Where the next watches begin after a cut. */
  private resumeFrom: Versions | undefined;
  /** From when a cut is possible, by the monotonic clock in milliseconds. */
  private cutFrom = Infinity;
  private failure: Failure | undefined;
  private restsUntil = 0;
  /** By the uid of a `Lumigo` resource: until when everything that its namespace held at the start is still being sent. */
  private readonly initial = new Map<string, number>();

  constructor(private readonly options: ReloaderOptions) {}

  /** Reloads it if there is a reason to. Returns whether the collector does what it should. */
  async reconcile(settings: ProxySettings, wanted: Assignment | undefined): Promise<boolean> {
    const process = this.find(configurationFile(settings.telemetryProxyDirectory));
    if (process === undefined) return false;
    if (this.known === undefined || !isSame(this.known.process, process)) this.meet(process);
    const plan = planReload({
      ...{ wanted, running: this.known?.running, lastGood: this.lastGood, failure: this.failure },
      ...{ restsUntil: this.restsUntil, now: performance.now() },
    });
    if (plan !== undefined) await this.reload(process, settings, plan.assignment);
    return this.known?.running === textOf(wanted);
  }

  /**
   * Stops all collected data at once and without a reload, if the collector sends data of a namespace whose collection ended and cannot
   * be reloaded yet. The next reload sends again what happened since the last one, so that the other namespaces lose nothing.
   * @returns true if it did. Then the next assignment must differ from the last one.
   */
  cutOff({ telemetryProxyDirectory }: ProxySettings, wanted: Assignment | undefined): boolean {
    const { cutFrom, known, restsUntil, sending, watches } = this;
    const now = performance.now();
    if (now < cutFrom || now > restsUntil || textOf(stillWanted(sending, wanted)) === textOf(sending)) return false;
    changeLoopKey(telemetryProxyDirectory);
    this.resumeFrom = known?.running === undefined ? watches.since : watches.present;
    this.sending = undefined;
    this.options.logger.info('stopped collecting a namespace, collected data waits for the next reload');
    return true;
  }

  /** The number of namespaces that the collector collects from. */
  collected(): number {
    const collects = this.known?.running === textOf(this.lastGood);
    return collects ? (this.lastGood?.namespaces.length ?? 0) : 0;
  }

  /** The one that is known is looked for by its number: the whole process list is read only when it is gone. */
  private find(file: string): CollectorProcess | undefined {
    const known = this.known?.process;
    return known !== undefined && runs(known) ? known : findCollector(file);
  }

  /** The first process met may have been started by anyone; a later one has found the file that says to forward. */
  private meet(process: CollectorProcess): void {
    this.known = { process, running: this.known === undefined ? undefined : textOf(undefined) };
    this.initial.clear();
  }

  private async reload(
    process: CollectorProcess,
    settings: ProxySettings,
    assignment: Assignment | undefined,
  ): Promise<void> {
    const { logger, onReload, signal } = this.options;
    const before = await upSinceBy(settings);
    // It is only starting; a signal now would end it.
    if (before === undefined) return;
    const started = performance.now();
    const namespaces = assignment?.namespaces.length ?? 0;
    try {
      await this.write(settings, assignment);
      this.known = { process, running: undefined };
      if (!askToReload(process)) throw new Error('the collector is not running');
      await this.whenUp(settings, process, before);
      this.took(process, assignment);
      logger.info({ namespaces, tookMs: Math.round(performance.now() - started) }, 'telemetry proxy reloaded');
      onReload({ assignment });
    } catch (error) {
      if (signal.aborted) return;
      const problem = describeError(error);
      this.failed(assignment);
      logger.error({ namespaces, problem }, 'cannot reload the telemetry proxy, retrying');
      onReload({ assignment, problem });
    } finally {
      this.restsUntil = performance.now() + restMs(performance.now() - started);
      writeConfiguration(settings);
    }
  }

  private async write(settings: ProxySettings, assignment: Assignment | undefined): Promise<void> {
    const { namespaces = [] } = assignment ?? {};
    // From before the watches end, so that nothing is missed between them and the next ones.
    const present = namespaces.length === 0 ? {} : await presentVersions(this.options.client);
    const since = this.resumeFrom ?? present;
    const now = performance.now();
    const initial = namespaces
      .filter(({ lumigo }) => (this.initial.get(lumigo) ?? Infinity) > now)
      .map(({ name }) => name);
    writeConfiguration(settings, { namespaces, initial, since, key: readLoopKey(settings.telemetryProxyDirectory) });
    this.sending = assignment;
    this.watches = { since, present };
    // A reload that takes longer delays no cut.
    [this.cutFrom, this.restsUntil] = [now + CATCH_UP_MS, Infinity];
  }

  private async whenUp(settings: ProxySettings, process: CollectorProcess, before: string): Promise<void> {
    for (const deadline = performance.now() + UP_MS; performance.now() < deadline;) {
      await sleep(POLL_MS, undefined, { signal: this.options.signal });
      const now = await upSinceBy(settings);
      if (!runs(process))
        throw new Error('the collector exited while it loaded its configuration; see its log for the reason');
      if (now !== undefined && now !== before) return;
    }
    // Before a reload it waits for every request to end, and anybody may have begun one. A new one forwards at once, what is on disk first.
    writeConfiguration(settings);
    end(process);
    throw new Error(`the collector did not load its configuration within ${UP_MS / 1_000} s and was killed`);
  }

  private took(process: CollectorProcess, assignment: Assignment | undefined): void {
    this.known = { process, running: textOf(assignment) };
    this.lastGood = assignment;
    this.failure = undefined;
    this.cutFrom = performance.now() + CATCH_UP_MS;
    // Otherwise it was cut off meanwhile.
    if (this.sending === assignment) this.resumeFrom = undefined;
    const lumigoes = new Set(assignment?.namespaces.map(({ lumigo }) => lumigo));
    for (const lumigo of this.initial.keys()) if (!lumigoes.has(lumigo)) this.initial.delete(lumigo);
    const fresh = [...lumigoes].filter((lumigo) => !this.initial.has(lumigo));
    for (const lumigo of fresh) this.initial.set(lumigo, performance.now() + initialMs(fresh.length));
  }

  private failed(assignment: Assignment | undefined): void {
    const text = textOf(assignment);
    const count = this.failure?.assignment === text ? this.failure.count + 1 : 1;
    this.failure = { assignment: text, count, at: performance.now() };
    if (textOf(this.lastGood) === text) this.lastGood = undefined;
  }
}

/** Since when the collector is up. */
const upSinceBy = ({ listenAddress, telemetryHealthPort }: ProxySettings): Promise<string | undefined> =>
  upSince(listenAddress === '' ? '127.0.0.1' : listenAddress, telemetryHealthPort);

const isSame = (a: CollectorProcess, b: CollectorProcess): boolean => a.pid === b.pid && a.began === b.began;

/** The present resourceVersion of every kind that is collected, by plural: a list says how far it has seen, however short it is. */
async function presentVersions(client: Client): Promise<Readonly<Record<string, string>>> {
  const versions = collectedKinds.map(async (kind) => {
    const { value } = await client.pages(kind, { limit: 1, metadataOnly: true }).next();
    return [kind.plural, value?.resourceVersion ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(versions));
}
