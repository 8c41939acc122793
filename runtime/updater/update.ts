import type { Logger } from 'pino';
import { eventReasons, suffixes } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { Client } from '../kubernetes/client.ts';
import { eventObject, postEvent, type Regarding } from '../kubernetes/events.ts';
import type { UpdaterConfig } from '../config.ts';
import type { Helm } from './helm.ts';
import { planUpdate } from './plan-update.ts';

interface UpdateOptions {
  readonly config: UpdaterConfig;
  readonly client: Client;
  readonly helm: Helm;
  readonly logger: Logger;
}

type Outcome = 'operatorUpdated' | 'operatorUpToDate' | 'cannotUpdateOperator';

const isTrusting = ({ keyring, unsigned }: UpdaterConfig): boolean => keyring !== '' || unsigned === 'accept';

const unverified =
  'nothing tells whose charts these are: name the Secret with the keyring that they must be signed by (updater.verify.keyringSecret), or trust the chart repository alone (updater.verify.unsigned: accept)';

const said = { operatorUpdated: 'operator updated', operatorUpToDate: 'operator up to date' } as const;

/**
 * Brings the release that the operator was installed by to the newest version that its settings allow, and tells what it did, or
 * why it did nothing, in the log and by an event on the operator's Deployment.
 * @returns whether it was done: false where somebody has to look
 */
export async function update(options: UpdateOptions): Promise<boolean> {
  const { config, client, logger } = options;
  const { release, regarding } = await findRelease(client, config);
  const acting = isTrusting(config) ? attempt(options, release) : Promise.reject(new Error(unverified));
  const [outcome, message] = await acting.catch(
    (error: unknown) => ['cannotUpdateOperator', describeError(error)] as const,
  );
  if (outcome === 'cannotUpdateOperator') logger.error({ release, problem: message }, 'operator not updated');
  else logger.info({ release, result: message }, said[outcome]);
  await tell(options, regarding, outcome, message);
  return outcome !== 'cannotUpdateOperator';
}

async function attempt({ config, helm, logger }: UpdateOptions, release: string): Promise<readonly [Outcome, string]> {
  const { operatorNamespace: namespace, repository, versions, keyring, timeoutSeconds } = config;
  const history = await helm.history(release);
  const available = await helm.versions(repository);
  const { step, to, message } = planUpdate({ release, namespace, history, available, versions });
  if (step === 'stay') return ['operatorUpToDate', message];
  if (step === 'refuse' || to === undefined) return ['cannotUpdateOperator', message];
  const chart = await helm.fetch(to, keyring);
  const from = history.at(-1)?.version;
  logger.info({ release, from, to, reason: message }, 'updating the operator');
  try {
    await helm.upgrade(release, chart, timeoutSeconds);
  } catch (error) {
    const last = (await helm.history(release)).at(-1);
    const state = `revision ${last?.revision}, with ${last?.version}, is ${last?.status}`;
    throw new Error(`${to} could not be installed; ${state} now`, { cause: error });
  }
  return ['operatorUpdated', `${from} was upgraded to ${to}`];
}

/**
 * Helm notes on every object which release it belongs to.
 * @throws Error where the operator's Deployment is not there, or nobody's release
 */
async function findRelease(client: Client, { operatorName, operatorNamespace: namespace }: UpdaterConfig) {
  const name = `${operatorName}${suffixes.manager}`;
  const ref = { group: 'apps', version: 'v1', plural: 'deployments', namespace, name };
  const { metadata } = await client.get(ref, { metadataOnly: true });
  const release = metadata.annotations?.['meta.helm.sh/release-name'];
  if (release === undefined)
    throw new Error(
      `the Deployment ${namespace}/${name} was not installed by Helm, so there is no release to keep current; turn the updater off`,
    );
  const { uid = '', resourceVersion = '' } = metadata;
  const regarding: Regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name, uid, resourceVersion };
  return { release, regarding };
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
