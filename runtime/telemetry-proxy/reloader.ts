import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../errors.ts';
import { askToReload, findCollector, runs, upSince, type CollectorProcess } from './collector.ts';
import { configurationFile, writeConfiguration } from './files.ts';
import { initialMs, planReload, textOf, type Duty, type Failure } from './plan-reload.ts';
import type { ProxySettings } from './types.ts';

export interface ReloaderOptions {
  readonly folder: string;
  readonly settings: () => ProxySettings;
  /** The present resourceVersion of every kind that is collected, by plural. Rejects while the API server does not answer. */
  readonly versions: () => Promise<Readonly<Record<string, string>>>;
  /** A reload took, or did not: then why. */
  readonly onReload: (outcome: { readonly problem?: string; readonly duty: Duty | undefined }) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const UP_MS = 30_000;
const LOOK_MS = 50;

/**
 * Brings the collector to its duty by a new configuration and a signal, and sees that it took. The file that it would
 * find after a crash always says to forward only: so it comes up whatever the state of the cluster, and is then brought
 * to its duty again.
 */
export class Reloader {
  readonly #options: ReloaderOptions;
  #known: { readonly process: CollectorProcess; readonly running: string | undefined } | undefined;
  #lastGood: Duty | undefined;
  #failure: Failure | undefined;
  /** By namespace: until when everything there was at the start is still being sent. */
  readonly #initial = new Map<string, number>();

  constructor(options: ReloaderOptions) {
    this.#options = options;
  }

  /** One look: reloads if there is a reason to. Returns whether the collector does what it should. */
  async look(wanted: Duty | undefined): Promise<boolean> {
    const process = this.#find();
    if (process === undefined) return false;
    if (this.#known === undefined || !isSame(this.#known.process, process)) this.#meet(process);
    const running = this.#known?.running;
    const plan = planReload({ wanted, running, lastGood: this.#lastGood, failure: this.#failure, now: Date.now() });
    if (plan !== undefined) await this.#reload(process, plan.duty);
    return this.#known?.running === textOf(wanted);
  }

  /** The one that is known is looked for by its number: the whole process list is read only when it is gone. */
  #find(): CollectorProcess | undefined {
    const known = this.#known?.process;
    return known !== undefined && runs(known) ? known : findCollector(configurationFile(this.#options.folder));
  }

  /** The first process met may have been started by anyone; a later one has found the file that says to forward. */
  #meet(process: CollectorProcess): void {
    this.#known = { process, running: this.#known === undefined ? undefined : textOf(undefined) };
    this.#initial.clear();
  }

  async #reload(process: CollectorProcess, duty: Duty | undefined): Promise<void> {
    const { folder, settings, logger, onReload } = this.#options;
    const { listenAddress, ports } = settings();
    const host = listenAddress === '' ? '127.0.0.1' : listenAddress;
    const before = await upSince(host, ports.health);
    // It is only starting; a signal now would end it.
    if (before === undefined) return;
    const started = Date.now();
    try {
      await this.#write(duty);
      this.#known = { process, running: undefined };
      if (!askToReload(process)) throw new Error('the collector is gone');
      await this.#whenUp(process, () => upSince(host, ports.health), before);
      this.#took(process, duty);
      logger.info(
        { namespaces: duty?.namespaces.length ?? 0, tookMs: Date.now() - started },
        'telemetry proxy reloaded',
      );
      onReload({ duty });
    } catch (error) {
      if (this.#options.signal.aborted) return;
      const problem = describeError(error);
      this.#failed(duty);
      logger.error({ namespaces: duty?.namespaces.length ?? 0, problem }, 'telemetry proxy not reloaded');
      onReload({ duty, problem });
    } finally {
      writeConfiguration(folder, settings());
    }
  }

  async #write(duty: Duty | undefined): Promise<void> {
    const { folder, settings, versions } = this.#options;
    if (duty === undefined || duty.namespaces.length === 0) return writeConfiguration(folder, settings());
    // From before the watches end, so that nothing is missed between them and the next ones.
    const since = await versions();
    const now = Date.now();
    const initial = duty.namespaces
      .map(({ name }) => name)
      .filter((name) => (this.#initial.get(name) ?? Infinity) > now);
    writeConfiguration(folder, settings(), { namespaces: duty.namespaces, initial, since });
  }

  async #whenUp(process: CollectorProcess, look: () => Promise<string | undefined>, before: string): Promise<void> {
    const { signal } = this.#options;
    const deadline = Date.now() + UP_MS;
    while (Date.now() < deadline) {
      await sleep(LOOK_MS, undefined, { signal });
      const since = await look();
      if (!runs(process))
        throw new Error('the collector ended when it was to take up its configuration; its log says why');
      if (since !== undefined && since !== before) return;
    }
    throw new Error(`the collector was not up ${UP_MS / 1_000} s after it was to take up its configuration`);
  }

  #took(process: CollectorProcess, duty: Duty | undefined): void {
    this.#known = { process, running: textOf(duty) };
    this.#lastGood = duty;
    this.#failure = undefined;
    const names = new Set(duty?.namespaces.map(({ name }) => name));
    for (const name of this.#initial.keys()) if (!names.has(name)) this.#initial.delete(name);
    const fresh = [...names].filter((name) => !this.#initial.has(name));
    for (const name of fresh) this.#initial.set(name, Date.now() + initialMs(fresh.length));
  }

  #failed(duty: Duty | undefined): void {
    const text = textOf(duty);
    const count = this.#failure?.duty === text ? this.#failure.count + 1 : 1;
    this.#failure = { duty: text, count, at: Date.now() };
    if (textOf(this.#lastGood) === text) this.#lastGood = undefined;
  }
}

const isSame = (a: CollectorProcess, b: CollectorProcess): boolean => a.pid === b.pid && a.began === b.began;
