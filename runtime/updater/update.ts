import type { Logger } from 'pino';
import type { UpdaterConfig } from '../config/config.ts';
import { eventReasons } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import { managerOf } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { eventObject, postEvent, type Regarding } from '../kubernetes/resources/events.ts';
import type { ChartSource } from './chart-source.ts';
import type { Helm } from './helm.ts';
import { planCheck, planUpdate, rangeOf } from './plan-update.ts';

interface UpdateOptions {
  readonly config: UpdaterConfig;
  readonly client: Client;
  readonly helm: Helm;
  readonly logger: Logger;
}

type Outcome = 'operatorUpdated' | 'operatorUpToDate' | 'operatorUpdateAvailable' | 'cannotUpdateOperator';

interface Result {
  readonly outcome: Outcome;
  readonly message: string;
  /** The newest version that was found, empty where there is no newer one; undefined: nothing is known. */
  readonly newest?: string | undefined;
}

/** What the log says of it. */
const said = {
  operatorUpdated: 'operator updated',
  operatorUpToDate: 'operator up to date',
  operatorUpdateAvailable: 'newer operator available',
  cannotUpdateOperator: 'operator not updated',
} as const satisfies Record<Outcome, string>;

const isTrusting = ({ keyring, unsigned }: UpdaterConfig): boolean => keyring !== '' || unsigned === 'accept';

const noRelease =
  'the operator was not installed by Helm, so there is no release to upgrade. Set updater.mode to check';
const noRepository = 'no chart repository is set. Set updater.repository';
const unverified =
  'the charts cannot be verified. Set updater.verify.keyringSecret to the Secret with the keyring, or set updater.verify.unsigned to accept to trust the chart repository';

/**
 * Brings the release that the operator was installed by to the newest version that its settings allow; or, to check, only looks for
 * that version. Tells what it did or found, or why it did nothing, in the log and by an event on the operator's Deployment.
 * @returns whether it was done: false where somebody has to look
 */
export async function update(options: UpdateOptions): Promise<boolean> {
  const { config, client, logger } = options;
  const { release, regarding } = await findOperator(client, config);
  const { outcome, message, newest } = await (config.mode === 'check' ? check : upgrade)(options, release).catch(
    (error: unknown): Result => ({ outcome: 'cannotUpdateOperator', message: describeError(error) }),
  );
  if (outcome === 'cannotUpdateOperator') logger.error({ release, problem: message }, said[outcome]);
  else logger.info({ release, newest, result: message }, said[outcome]);
  await tell(options, regarding, outcome, message);
  return outcome !== 'cannotUpdateOperator';
}

async function check({ config, helm }: UpdateOptions, release: string | undefined): Promise<Result> {
  const { operatorNamespace: namespace, repository, versions, version: installed } = config;
  const { chart, versions: versionsIn } = sourceOf(helm, repository);
  const available = await versionsIn(rangeOf(installed, versions) ?? '*');
  const { step, newest = '', message } = planCheck({ release, namespace, installed, available, versions, chart });
  if (step === 'refuse') throw new Error(message);
  return { outcome: step === 'tell' ? 'operatorUpdateAvailable' : 'operatorUpToDate', message, newest };
}

async function upgrade({ config, helm, logger }: UpdateOptions, release: string | undefined): Promise<Result> {
  const { operatorNamespace: namespace, repository, versions, keyring, timeoutSeconds } = config;
  if (release === undefined) throw new Error(noRelease);
  if (!isTrusting(config)) throw new Error(unverified);
  const source = sourceOf(helm, repository);
  const history = await helm.history(release);
  const from = history.at(-1)?.version ?? '';
  const { chart } = source;
  const available = await source.versions(rangeOf(from, versions) ?? '*');
  const { step, newest = '', message } = planUpdate({ release, namespace, history, available, versions, chart });
  if (step === 'refuse') throw new Error(message);
  if (step === 'stay') return { outcome: 'operatorUpToDate', message, newest };
  logger.info({ release, from, to: newest, reason: message }, 'updating the operator');
  try {
    const file = await source.fetch(newest, keyring);
    await helm.upgrade(release, file, timeoutSeconds).catch(async (error: unknown) => {
      const last = (await helm.history(release)).at(-1);
      const state = `revision ${last?.revision}, with ${last?.version}, is ${last?.status}`;
      throw new Error(`${newest} could not be installed; ${state} now`, { cause: error });
    });
  } catch (error) {
    return { outcome: 'cannotUpdateOperator', message: describeError(error), newest };
  }
  return { outcome: 'operatorUpdated', message: `${from} was upgraded to ${newest}`, newest };
}

function sourceOf(helm: Helm, repository: string): ChartSource {
  if (repository === '') throw new Error(noRepository);
  return helm.charts(repository);
}

/**
 * What events are about, and the release that it belongs to, which Helm notes on every object.
 * @throws Error where the operator's Deployment is not there
 */
async function findOperator(client: Client, config: UpdaterConfig) {
  const manager = managerOf(config);
  const { namespace, name } = manager;
  const { metadata } = await client.get(manager, { metadataOnly: true });
  const { uid = '', resourceVersion = '', annotations } = metadata;
  const regarding: Regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name, uid, resourceVersion };
  return { release: annotations?.['meta.helm.sh/release-name'], regarding };
}

async function tell({ config, client }: UpdateOptions, regarding: Regarding, outcome: Outcome, message: string) {
  const event = eventObject({
    regarding,
    reason: eventReasons[outcome],
    type: outcome === 'cannotUpdateOperator' ? 'Warning' : 'Normal',
    message,
    key: config.podName,
    now: new Date(),
    version: config.version,
    instance: config.podName,
  });
  await postEvent(client, event);
}
