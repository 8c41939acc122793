import { unpublishedNotice } from './publisher.ts';
import type { Settings } from './settings/schema.ts';
import { whySuspended } from './updater-state.ts';

/** Returns warnings for the installing user, a line each: an image that is not published, a suspended updater. */
export const noticesOf = ({ controllerManager, imagePrefix, updater }: Settings): readonly string[] =>
  [unpublishedNotice(controllerManager.manager.image, imagePrefix), whySuspended(updater)].flatMap(
    (notice) => notice ?? [],
  );
