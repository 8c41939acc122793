import { Debounce } from '../async/debounce.ts';
import { pause } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { webhookSelector } from '../contract.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { watchKind, type Watching } from '../kubernetes/watch/watches.ts';
import { describeError } from '../wording/errors.ts';
import { getManager, reportOnOperator, type ManagerDeployment } from './installation.ts';
import { getId, findInstallation, isActive, olderThan, seeManager, seeNothing } from './plan-standby.ts';
import type { KnownInstallation, SeenManager } from './plan-standby.ts';

interface StandbyOptions extends Omit<Watching, 'signal'> {
  readonly config: RuntimeConfig;
}

const burst = { quietMs: 20, atMostMs: 200 };
/** While it stands by, without a request. */
const RECHECK_MS = 100;
/** The time between two reads of the Deployments of older installations. */
const POLL_MS = 5_000;
const IDLE_MS = 60 * 60_000;
const UNREAD = 'the list of other operator installations is not read yet';

/** Stands by if an older installation is active. Only administrators can write the webhook configurations it reads. */
export class Standby {
  readonly name = 'other installations';
  private readonly client: Client;
  private readonly seen = new Map<string, SeenManager>();
  private cause: string | undefined = UNREAD;
  /** Aborted while this installation stands by. */
  private active = new AbortController();

  constructor(private readonly options: StandbyOptions) {
    this.client = createClient(options.transport);
    this.active.abort();
  }

  /** Returns why this installation changes nothing; undefined while it is the active one. */
  readonly reason = (): string | undefined => this.cause;

  /** Standing by is a ready state: a tool that replaces an installation waits for the new one before it deletes the old one. */
  readonly unready = (): string[] => (this.cause === UNREAD ? [UNREAD] : []);

  /** Runs `work` whenever this installation is active. Its signal is aborted when that ends. */
  async whileActive(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      if (this.active.signal.aborted) await pause(RECHECK_MS, signal);
      else await work(AbortSignal.any([signal, this.active.signal]));
    }
  }

  readonly run = async (signal: AbortSignal): Promise<void> => {
    const { config, transport, logger } = this.options;
    const changes = new Debounce(burst);
    const known = new Kept<KnownInstallation>(
      ({ metadata }) => findInstallation(metadata),
      () => changes.touch(),
    );
    const watching = { transport, logger, signal, handler: known, metadataOnly: true, labelSelector: webhookSelector };
    const { synced, stopped } = watchKind(kinds.webhooks, watching);
    await synced;
    while (!signal.aborted) {
      const older = olderThan(config, known.values());
      for (const each of older) await this.look(each, signal);
      await this.judge(older.find(({ uid }) => isActive(this.seen.get(uid), performance.now())));
      await changes.wait(older.length > 0 ? POLL_MS : IDLE_MS, signal);
    }
    await stopped;
  };

  /** If the read fails, the last answer counts. */
  private async look(other: KnownInstallation, signal: AbortSignal): Promise<void> {
    const before = this.seen.get(other.uid);
    try {
      const found = (await this.client.find(getManager(other), { signal })) as ManagerDeployment | undefined;
      const available = found === undefined ? undefined : (found.status?.availableReplicas ?? 0);
      this.seen.set(other.uid, seeManager(before, available, performance.now()));
    } catch (error) {
      this.seen.set(other.uid, seeNothing(performance.now(), before));
      if (!signal.aborted)
        this.options.logger.debug(
          { other: getId(other), problem: describeError(error) },
          'cannot read the other installation',
        );
    }
  }

  private async judge(other: KnownInstallation | undefined): Promise<void> {
    const { logger } = this.options;
    const cause =
      other &&
      `another installation of the Lumigo operator is active in this cluster (${getId(other)}), and this one changes nothing; remove one of the two, see docs/operate/uninstall.md`;
    if (cause === this.cause) return;
    this.cause = cause;
    if (other !== undefined && cause !== undefined) {
      this.active.abort();
      logger.warn({ other: getId(other) }, cause);
      return this.report(other, cause);
    }
    logger.info({}, 'this installation is now active');
    this.active = new AbortController();
  }

  private async report({ uid }: KnownInstallation, cause: string): Promise<void> {
    const { config, logger } = this.options;
    const message = `${cause.charAt(0).toUpperCase()}${cause.slice(1)}`;
    await reportOnOperator(this.client, config, { reason: 'LumigoOperatorStandsBy', message, key: uid }).catch(
      (error: unknown) =>
        logger.debug({ problem: describeError(error) }, 'cannot send the event about another installation'),
    );
  }
}
