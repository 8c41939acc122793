import type { Settings } from './schema.ts';

type UpdaterSettings = Settings['updater'];

/** Returns why the updater is suspended, or undefined. An upgrade needs a keyring, or the explicit choice to trust the repository. */
export function whySuspended({ mode, repository, verify }: UpdaterSettings): string | undefined {
  if (mode === 'off') return undefined;
  if (repository === '') return suspended.noRepository;
  const isTrusting = verify.keyringSecret !== '' || verify.unsigned !== 'refuse';
  return mode === 'upgrade' && !isTrusting ? suspended.noKeyring : undefined;
}

export const suspended = {
  noRepository: 'The updater is suspended because this build has no chart repository. Set updater.repository.',
  noKeyring:
    'The updater is suspended because it has no keyring to verify charts with. Set updater.verify.keyringSecret, or set ' +
    'updater.mode=check to only report newer versions.',
} as const;

/** The updater has the rights of an upgrade only if it can upgrade. */
export const mayUpgrade = (updater: UpdaterSettings): boolean =>
  updater.mode === 'upgrade' && whySuspended(updater) === undefined;
