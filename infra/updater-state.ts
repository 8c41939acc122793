import type { Settings } from './settings/schema.ts';

type UpdaterSettings = Settings['updater'];

/**
 * Why the updater's CronJob is suspended, in a sentence; undefined where it is not. To upgrade it needs to be told whose charts it
 * may install. The chart's notes say the same (helm/notes.ts).
 */
export function whySuspended({ mode, repository, verify }: UpdaterSettings): string | undefined {
  if (mode === 'off') return undefined;
  if (repository === '') return suspended.noRepository;
  const isTrusting = verify.keyringSecret !== '' || verify.unsigned !== 'refuse';
  return mode === 'upgrade' && !isTrusting ? suspended.noKeyring : undefined;
}

export const suspended = {
  noRepository: 'The updater is suspended: this build has no chart repository; updater.repository names one.',
  noKeyring:
    'The updater is suspended: nothing says whose charts it may install; updater.verify.keyringSecret names the keyring that they ' +
    'must be signed by, or updater.mode=check has it only look.',
} as const;

/** When the updater runs, as cron writes it; empty where it is off or suspended. */
export const scheduleOf = (updater: UpdaterSettings): string =>
  updater.mode === 'off' || whySuspended(updater) !== undefined ? '' : updater.schedule;

/** The rights of an upgrade are there only while one can come. */
export const mayUpgrade = (updater: UpdaterSettings): boolean =>
  updater.mode === 'upgrade' && whySuspended(updater) === undefined;
