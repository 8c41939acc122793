import { annotations } from '../contract.ts';
import { choiceIn, choiceOf } from './chosen-containers.ts';
import { fingerprint } from './fingerprint.ts';
import { remove } from './remove.ts';
import { revertOf, type Revert } from './revert.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { currentFormat } from './variables.ts';

/**
 * Returns a fingerprint of what a program met: the injector, and of the workload its images, commands, chosen containers and the
 * annotation `lumigo.retry`. An upgrade of the operator, a restart or another sidecar name changes none of them.
 * @param image of the injector
 */
export function revertKey({ metadata }: Workload, template: PodTemplate, image: string): string {
  const { containers, initContainers = [] } = remove(template).spec;
  const programs = [...initContainers, ...containers].map(({ name, image: own, command, args }) => ({
    ...{ name, image: own, command, args },
  }));
  const choice = choiceIn(template.metadata, choiceOf(metadata));
  return fingerprint({
    image,
    format: currentFormat,
    programs,
    choice,
    retry: metadata.annotations?.[annotations.retry],
  });
}

/** Returns the revert that holds for a workload as it is now; undefined where there is none, or its program changed since. */
export function standingRevert(workload: Workload, template: PodTemplate, image: string): Revert | undefined {
  const found = revertOf(workload.metadata);
  return found !== undefined && found.key === revertKey(workload, template, image) ? found : undefined;
}
