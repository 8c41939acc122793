import gt from 'semver/functions/gt.js';
import valid from 'semver/functions/valid.js';
import type { UpdaterConfig, RuntimeConfig } from '../config/config.ts';
import { fieldManager, suffixes } from '../contract.ts';
import type { Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { dataOf } from '../kubernetes/resources/objects.ts';
import { watchNamed, type Watching } from '../kubernetes/watch/watches.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Metrics } from '../observability/metrics.ts';
import { dueAfter } from './schedule.ts';

/** What the updater writes down in its ConfigMap (`suffixes.updater`): when it last could check, what it found, what it said of it. */
const checkKeys = { lookedAt: 'lookedAt', newest: 'newest', message: 'message' } as const;

/** The ConfigMap in which the updater writes down what it found. It is part of the installation: nobody may create one. */
export const checkRef = ({ operatorName, operatorNamespace }: Installed) => ({
  ...kinds.configMaps,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.updater}`,
});

interface UpdateCheck {
  readonly message: string;
  /** Empty: none is newer. Undefined: it could not check, and what it found before stays. */
  readonly newest: string | undefined;
  readonly now: Date;
}

/** Notes it in the ConfigMap. @throws ApiError where it is not there, or not to be written */
export async function writeCheck(
  client: Client,
  config: UpdaterConfig,
  { message, newest, now }: UpdateCheck,
): Promise<void> {
  const found = newest === undefined ? {} : { [checkKeys.newest]: newest, [checkKeys.lookedAt]: now.toISOString() };
  const body = { data: { ...found, [checkKeys.message]: message } };
  await client.patch(checkRef(config), { kind: 'merge', body }, { fieldManager });
}

/**
 * What the manager tells of it. A version that the updater has found is newer until a manager of that version runs, so nothing has to
 * be looked up after an upgrade. When it last looked is of the past where no updater runs any more: nothing is due then.
 */
export function readCheck(
  data: Readonly<Record<string, string>>,
  { version: running, updaterSchedule: schedule }: Pick<RuntimeConfig, 'version' | 'updaterSchedule'>,
) {
  const newest = data[checkKeys.newest] ?? '';
  const isNewer = valid(newest) !== null && valid(running) !== null && gt(newest, running);
  const lookedAt = Date.parse(data[checkKeys.lookedAt] ?? '');
  const checkedAtSeconds = schedule === '' || Number.isNaN(lookedAt) ? 0 : lookedAt / 1_000;
  const dueAtSeconds = checkedAtSeconds === 0 ? 0 : dueAfter(schedule, checkedAtSeconds);
  return { newest: isNewer ? newest : '', checkedAtSeconds, dueAtSeconds };
}

interface FollowOptions extends Watching {
  readonly config: RuntimeConfig;
  readonly metrics: Pick<Metrics, 'newerVersion' | 'updateCheck' | 'updateCheckDue'>;
}

/** Makes metrics of what the updater has found, which is gone with its pod. While it finds nothing new that costs no request. */
export async function followCheck({ config, metrics, ...watching }: FollowOptions): Promise<void> {
  const show = (data: Readonly<Record<string, string>>) => {
    const { newest, checkedAtSeconds, dueAtSeconds } = readCheck(data, config);
    metrics.newerVersion.reset();
    metrics.newerVersion.set({ version: newest }, newest === '' ? 0 : 1);
    metrics.updateCheck.set(checkedAtSeconds);
    metrics.updateCheckDue.set(dueAtSeconds);
  };
  show({});
  await watchNamed(checkRef(config), new Kept(dataOf, (data = {}) => show(data)), watching, false).stopped;
}
