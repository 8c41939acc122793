import { helmRelease } from '../contract.ts';
import type { Logger } from 'pino';
import type { UpdaterConfig } from '../config/config.ts';
import type { EventReason } from '../api/events.ts';
import { getManager, reportOnOperator } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { describeError } from '../wording/errors.ts';
import type { Helm } from './helm.ts';
import { planUpdate, refuse, toConstraints, type Outcome, type Result } from './plan-update.ts';

interface UpdateOptions {
  readonly config: UpdaterConfig;
  readonly client: Client;
  readonly helm: Helm;
  readonly logger: Logger;
}

const reports: Readonly<Record<Outcome, readonly [reason: EventReason, log: string]>> = {
  operatorUpdated: ['LumigoOperatorUpdated', 'operator updated'],
  operatorUpToDate: ['LumigoOperatorUpToDate', 'operator up to date'],
  operatorUpdateAvailable: ['LumigoOperatorUpdateAvailable', 'newer operator available'],
  cannotUpdateOperator: ['LumigoCannotUpdateOperator', 'operator not updated'],
};

/** Upgrades to the newest permitted version, or only reports it. Returns false if a person must act. */
export async function update(options: UpdateOptions): Promise<boolean> {
  const { config, client, logger } = options;
  const { annotations } = (await client.get(getManager(config), { metadataOnly: true })).metadata;
  // Helm writes its release on every object.
  const release = annotations?.[helmRelease];
  const { outcome, message, newest } = await checkOrUpgrade(options, release).catch((error: unknown) =>
    refuse(describeError(error)),
  );
  const [reason, report] = reports[outcome];
  const isDone = outcome !== 'cannotUpdateOperator';
  if (isDone) logger.info({ release, newest, result: message }, report);
  else logger.error({ release, problem: message }, report);
  await reportOnOperator(client, config, { reason, message, key: config.podName }).catch((error: unknown) =>
    logger.warn({ release, problem: describeError(error) }, 'cannot send the event about the update'),
  );
  return isDone;
}

async function checkOrUpgrade(options: UpdateOptions, release: string | undefined): Promise<Result> {
  const { config, helm, logger } = options;
  const { operatorNamespace: namespace, repository, versions } = config;
  const upgraded = config.mode === 'check' ? undefined : upgradable(config, release);
  if (repository === '') throw new Error('no chart repository is set. Set updater.repository');
  const history = upgraded === undefined ? undefined : await helm.history(upgraded);
  const charts = helm.charts(repository);
  const installed = history === undefined ? config.version : (history.at(-1)?.version ?? '');
  const available = await charts.versions(toConstraints(installed, versions, history));
  const plan = planUpdate({ installed, release, namespace, history, available, versions, chart: charts.chart });
  const { outcome, newest = '', message: reason } = plan;
  if (upgraded === undefined || outcome !== 'operatorUpdated') return plan;
  logger.info({ release, from: installed, to: newest, reason }, 'updating the operator');
  const file = await charts.fetch(newest, config.keyring);
  await helm.upgrade(upgraded, newest, file, config.timeoutSeconds);
  return { outcome, message: `${installed} was upgraded to ${newest}`, newest };
}

function upgradable({ keyring, unsigned }: UpdaterConfig, release: string | undefined): string {
  if (release === undefined)
    throw new Error(
      'the operator was not installed by Helm, so there is no release to upgrade. Set updater.mode to check',
    );
  if (keyring === '' && unsigned !== 'accept')
    throw new Error(
      'the charts cannot be verified. Set updater.verify.keyringSecret to the Secret with the keyring, or set updater.verify.unsigned to accept to trust the chart repository',
    );
  return release;
}
