import { podModeKubernetes } from '../../runtime/contract.ts';
import { unpublishedNotice } from './publisher.ts';
import type { Settings } from './schema.ts';
import { whySuspended } from './updater-state.ts';

/** A delivery that does not know the cluster cannot refuse an older one. */
const POD_MODE = `injection.podMode is true: the cluster must be Kubernetes 1.${podModeKubernetes} or newer. An older one refuses the policy for pods`;

/** Returns warnings for the installing user, one per line. */
export const getNotices = ({ controllerManager, imagePrefix, updater, injection }: Settings): readonly string[] =>
  [
    unpublishedNotice(controllerManager.manager.image, imagePrefix),
    whySuspended(updater),
    injection.podMode ? POD_MODE : undefined,
  ].flatMap((notice) => notice ?? []);
