import { annotations } from '../contract.ts';
import { choiceOf } from './chosen-containers.ts';
import { fingerprint } from './fingerprint.ts';
import { remove } from './remove.ts';
import { noteOf, type RolloutNote } from './rollout-note.ts';
import type { InjectionSettings, PodTemplate, Workload } from './types.ts';

/** What a note of this workload holds for: its own template, this injection, what `lumigo.retry` says. */
export function subjectOf({ metadata }: Workload, template: PodTemplate, settings: InjectionSettings) {
  const retry = metadata.annotations?.[annotations.retry];
  return {
    template: fingerprint(remove(template)),
    injection: fingerprint({ ...settings, choice: choiceOf(metadata) }),
    ...(retry === undefined ? {} : { retry: fingerprint(retry) }),
  };
}

/** The note by which a workload is left alone: its injection was put back, and nothing has changed since. */
export function frozenBy(
  workload: Workload,
  template: PodTemplate,
  settings: InjectionSettings,
): RolloutNote | undefined {
  const note = noteOf(workload.metadata);
  if (note === undefined) return undefined;
  const now = subjectOf(workload, template, settings);
  const holds = note.template === now.template && note.injection === now.injection && note.retry === now.retry;
  return holds ? note : undefined;
}
