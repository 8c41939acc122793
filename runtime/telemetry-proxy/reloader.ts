import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { pause } from '../async/retrying.ts';
import { pods } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isRefusal } from '../kubernetes/http/errors.ts';
import { describeError } from '../wording/errors.ts';
import { readAuthority } from './account.ts';
import { findCollector, kill, runs, upSince, waitForStop, type CollectorProcess } from './collector.ts';
import { changeLoopKey, readLoopKeys, writeConfiguration } from './files.ts';
import * as plan from './plan-reload.ts';
import { collectedKinds } from './render-collection.ts';
import type { Collection, ProxySettings } from './types.ts';

export interface Outcome {
  readonly problem?: string;
  readonly namespaces: plan.Namespaces;
}

interface ReloaderOptions {
  /** The client has the rights of the collector's own account. */
  readonly client: Client;
  readonly onReload: (outcome: Outcome) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** A collector first stops its components, which wait for their requests. An attacker can open one that never ends. */
export const STOP_MS = 20_000;
/** Then three pipelines, and that of log files, wait for pods one after the other. The liveness probe allows both times. */
export const LOAD_MS = 45_000;
/** Within this time a collector that is up has sent everything until the versions from before its reload. */
const CATCH_UP_MS = 2_000;
/** By then an exporter for a namespace has sent what it gathered (render-collection.ts). */
const FLUSH_MS = 500;
/** After a failed read of versions, so that a cut is possible before the next one. */
const UNREAD_MS = 5_000;
/** A connection may break often, and must not cause as many reloads. */
const RENEWAL_MS = 60_000;

const FAILURE = 'cannot write the configuration of the telemetry proxy, retrying';

type Versions = Collection['since'];

/** A collector that crashed finds a file that only forwards, so it starts in every state of the cluster. */
export class Reloader {
  private state = plan.untouched;
  private process: CollectorProcess | undefined;
  private reloading: Promise<void> | undefined;
  private isRenewalDue = false;
  private renewedAt = -Infinity;
  /** The collector reads it only when it loads its configuration. */
  private authority: string | undefined;
  private written: string | undefined;
  private wroteAt = -Infinity;
  /** The collector has sent everything until these versions. After a cut or a failed reload, the next watches begin there. */
  private sentUntil: Versions = {};
  private cutAt = Infinity;
  private lists: plan.ListsByUid = new Map();
  private wanted: plan.Namespaces = [];
  private waitsForPods = true;

  constructor(private readonly options: ReloaderOptions) {}

  /** Requests new watches after the API server was unavailable. */
  readonly renew = (): void => void (this.isRenewalDue = true);

  /** A watch of the collector ends for good if it is refused, which only its log says. So its account is tried each minute. */
  async renewIfRefused(signal: AbortSignal): Promise<void> {
    const list = () => this.options.client.pages(pods, { limit: 1, metadataOnly: true }).next();
    for (; !signal.aborted; await pause(RENEWAL_MS, signal))
      if (this.collected() > 0) await list().catch((error: unknown) => isRefusal(error) && this.renew());
  }

  /** A new leader has other namespaces to load than those that failed before. */
  readonly forgive = (): void => void (this.state = plan.forgive(this.state));

  readonly ended = (): Promise<void> | undefined => this.reloading;

  readonly collected = (): number => this.state.running?.filter(plan.sendsEvents).length ?? 0;

  /** Takes the next step of the plan. A reload continues in the background. Returns true if nothing is left to do. */
  reconcile(settings: ProxySettings, wanted: plan.Namespaces): boolean {
    const now = performance.now();
    this.wanted = wanted;
    const process = this.find(settings);
    if (process === undefined) return false;
    if (this.isOutdated(settings, now)) this.state = { ...this.state, running: undefined };
    const step = plan.planStep(this.state, wanted, now);
    if (step.kind === 'done') this.forgive();
    if (step.kind === 'cut') this.cut(settings);
    if (step.kind === 'reload')
      this.reloading ??= this.reload(process, settings, step.namespaces)
        .catch((error: unknown) => this.options.logger.warn({ problem: describeError(error) }, FAILURE))
        .finally(() => (this.reloading = undefined));
    const isDone = isDeepStrictEqual(this.state.running, wanted);
    // Whatever is collected next begins anew.
    if (isDone) this.cutAt = Infinity;
    return isDone;
  }

  /** Returns true if the same namespaces need a reload. */
  private isOutdated(settings: ProxySettings, now: number): boolean {
    if (this.reloading !== undefined || this.state.running === undefined) return false;
    const isBroken = (this.isRenewalDue && this.collected() > 0) || readAuthority(settings) !== this.authority;
    const isRenewed = isBroken && now >= this.renewedAt + RENEWAL_MS;
    if (isRenewed) this.renewedAt = now;
    return isRenewed || plan.isOutdated(this.written, settings.tokenNamespaces, now - this.wroteAt);
  }

  /** Any program may have started the first process. A later one found the file that only forwards. */
  private find(settings: ProxySettings): CollectorProcess | undefined {
    const known = this.process;
    if (known !== undefined && (this.reloading !== undefined || runs(known))) return known;
    const found = findCollector(settings);
    if (found === undefined) return undefined;
    this.state = { ...this.state, running: known === undefined ? undefined : [] };
    this.process = found;
    this.lists = plan.listsAfterExit(this.lists, performance.now());
    return found;
  }

  /** The next reload sends again what happened since the last one, so the other namespaces lose nothing. */
  private cut(settings: ProxySettings): void {
    changeLoopKey(settings, readLoopKeys(settings).nodeKey);
    this.cutAt = performance.now();
    this.state = { ...this.state, sending: [], running: undefined };
    this.options.logger.info('stopped collecting a namespace, events of others wait for the next reload');
  }

  private async reload(process: CollectorProcess, settings: ProxySettings, planned: plan.Namespaces): Promise<void> {
    const { client, logger, onReload, signal } = this.options;
    const before = await upSince(settings);
    // The signal would end a collector that is still starting.
    if (before === undefined) return;
    const started = performance.now();
    // A reload that takes longer delays no cut.
    this.state = { ...this.state, cutFrom: started + CATCH_UP_MS, restsUntil: Infinity };
    // The versions are read before the watches end, so that nothing between two watches is missed.
    const present = await presentVersions(client, planned).catch((error: unknown) => this.notRead(planned, error));
    if (present === undefined) return;
    if (this.state.sending.some(plan.sendsEvents)) await pause(FLUSH_MS, signal);
    if (signal.aborted) return;
    // The API server may let the reload wait for a minute, in which a namespace can end.
    const namespaces = plan.stillWanted(planned, this.wanted);
    try {
      const { listed, collection } = this.write(settings, namespaces, present);
      await this.load(settings, process, before, collection).finally(() => writeConfiguration(settings));
      this.took(namespaces, present, listed, started);
      const tookMs = Math.round(performance.now() - started);
      logger.info({ namespaces: namespaces.length, tookMs }, 'telemetry proxy reloaded');
      onReload({ namespaces });
    } catch (error) {
      if (signal.aborted) return;
      const problem = describeError(error);
      logger.error({ namespaces: namespaces.length, problem }, 'cannot reload the telemetry proxy, retrying');
      onReload({ namespaces, problem });
      // If it exited, the kubelet restarts it later each time, at last after five minutes.
      while (!signal.aborted && (await upSince(settings)) === undefined) await pause(500, signal);
      this.state = plan.afterFailure(this.state, namespaces, this.wroteAt, performance.now());
    }
  }

  /** The collector continues as it is. An outage is reported by others. */
  private notRead(namespaces: plan.Namespaces, error: unknown): undefined {
    const problem = describeError(error);
    this.state = { ...this.state, restsUntil: performance.now() + UNREAD_MS };
    this.options.logger.debug({ problem }, 'cannot read the versions of objects, retrying');
    if (isRefusal(error)) this.options.onReload({ namespaces, problem });
  }

  /** `listed`: the namespaces whose existing objects it lists. */
  private write(settings: ProxySettings, namespaces: plan.Namespaces, present: Versions) {
    if (this.cutAt === Infinity) this.sentUntil = present;
    const now = performance.now();
    // From here on nothing is sent, unless the reload succeeds. Without namespaces, there are no versions to keep.
    if (namespaces.some(plan.sendsEvents)) this.cutAt = Math.min(now, this.cutAt);
    const listed = plan.toList(namespaces, this.lists, this.cutAt);
    const initial = listed.map(({ name }) => name);
    this.isRenewalDue = false;
    this.authority = readAuthority(settings);
    this.written = settings.tokenNamespaces;
    this.wroteAt = now;
    const { sentUntil: since, waitsForPods } = this;
    const collection = { namespaces, initial, since, waitsForPods, ...readLoopKeys(settings) };
    writeConfiguration(settings, collection);
    this.state = { ...this.state, cutFrom: now + CATCH_UP_MS, running: undefined, sending: namespaces };
    return { listed, collection };
  }

  /** A reload waits for all requests: for those of an attacker, and for those that Lumigo does not answer. */
  private async load(settings: ProxySettings, process: CollectorProcess, before: string, written: Collection) {
    if (!kill(process, 'SIGHUP')) throw new Error('the collector is not running');
    if ((await this.findUp(settings, () => process, before)) !== undefined) return;
    const killed = 'the collector did not load its configuration in time and was killed';
    this.options.logger.warn(killed);
    writeConfiguration(settings, { ...written, waitsForPods: this.waitsForPods });
    kill(process, 'SIGKILL');
    // Data on disk survives, and the next process finds the same configuration, without a wait that was too long.
    const findNext = () => findCollector(settings, process.began);
    const next = await this.findUp(settings, findNext);
    if (next === undefined) {
      writeConfiguration(settings);
      kill(findNext(), 'SIGKILL');
      throw new Error(killed);
    }
    this.process = next;
  }

  /** Returns the process as soon as it is up, or undefined if that takes too long. */
  private async findUp(settings: ProxySettings, find: () => CollectorProcess | undefined, before?: string) {
    let found: CollectorProcess | undefined;
    const stopBy = performance.now() + STOP_MS;
    let deadline = stopBy;
    void waitForStop(settings).then(() => (deadline = performance.now() + LOAD_MS));
    while (performance.now() < deadline) {
      await sleep(50, undefined, { signal: this.options.signal });
      found ??= find();
      const now = await upSince(settings);
      if (found !== undefined && !runs(found))
        throw new Error('the collector exited while it loaded its configuration; see its log for the reason');
      if (found !== undefined && now !== undefined && now !== before) return found;
    }
    // A collector hangs for ever if its list of pods takes longer than it waits, in a large cluster each time.
    if (found !== undefined && deadline !== stopBy) this.waitsForPods = false;
    return undefined;
  }

  private took(namespaces: plan.Namespaces, present: Versions, listed: plan.Namespaces, started: number): void {
    const now = performance.now();
    this.state = { ...plan.afterSuccess(this.state, namespaces, started, now), cutFrom: now + CATCH_UP_MS };
    this.lists = plan.listsAfter(this.lists, namespaces, listed, now);
    // Otherwise a namespace was cut meanwhile, and another reload is due.
    if (this.state.sending !== namespaces) return;
    this.state = { ...this.state, running: namespaces };
    this.sentUntil = present;
    this.cutAt = Infinity;
  }
}

/** Each collection needs the API server, so it must answer first. */
async function presentVersions(client: Client, { length }: plan.Namespaces): Promise<Versions> {
  const versions = (length === 0 ? [] : collectedKinds).map(async (kind) => {
    const { value } = await client.pages(kind, { limit: 1, metadataOnly: true }).next();
    return [kind.plural, value?.resourceVersion ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(versions));
}
