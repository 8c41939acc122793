import { unpublishedNotice } from './publisher.ts';
import type { Settings } from './settings/schema.ts';
import { whySuspended } from './updater-state.ts';

/** What whoever installs should know of these settings, a line each: an image that nobody publishes, an updater that waits. */
export const noticesOf = ({ controllerManager, imagePrefix, updater }: Settings): readonly string[] =>
  [unpublishedNotice(controllerManager.manager.image, imagePrefix), whySuspended(updater)].flatMap(
    (notice) => notice ?? [],
  );
