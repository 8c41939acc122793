import { annotations } from '../contract.ts';
import { choiceIn, getChoice } from './chosen-containers.ts';
import { blocked, corrected, none, sentence, type Decision, type DecisionInput } from './decision.ts';
import { fingerprint } from './fingerprint.ts';
import { injectionStatusText } from './injection-status.ts';
import { hasInjection, isInjected, remove, uninstrument } from './remove.ts';
import { findRevert, retryDelayMs, withRevert } from './revert.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { InjectorSettings } from './types.ts';
import { whyInvalid } from './validity.ts';
import { currentFormat } from './variables.ts';
import { toTemplate } from './workload.ts';

/** Returns a fingerprint of the injector's image and the programs. It stays the same after an operator upgrade. */
export function revertKey({ metadata }: Workload, template: PodTemplate, injectorImage: string): string {
  const { containers, initContainers = [] } = remove(template).spec;
  const all = [...initContainers, ...containers];
  const programs = all.map(({ name, image, command, args }) => ({ name, image, command, args }));
  const { include = [], exclude = [] } = choiceIn(template.metadata, getChoice(metadata));
  const choice = { include: [...include], exclude: [...exclude] };
  const retry = metadata.annotations?.[annotations.retry];
  return fingerprint({ image: injectorImage, format: currentFormat, programs, choice, retry });
}

export function skippedAfterRevert({ workload, injector, attempt }: DecisionInput, template: PodTemplate) {
  const found = attempt ? undefined : findRevert(workload.metadata);
  if (found === undefined) return undefined;
  const isStanding = injector.isAssumed ?? found.key === revertKey(workload, template, injector.image);
  return isStanding ? none('reverted', workload, found.evidence) : undefined;
}

/** Returns the attempts before a retry by the user's change: the first after the delay, if no queue makes the retries. */
export function findRetry({ workload, injector: { strategy }, operation, now }: DecisionInput): number | undefined {
  const revert = findRevert(workload.metadata);
  if (revert === undefined || strategy === 'immediate') return revert?.attempt;
  // An undo that brings the injection back is no change of the program.
  const isChange = operation === 'UPDATE' && !hasInjection(workload);
  const isDue = Date.parse(revert.at) + retryDelayMs(revert.attempt) <= Date.parse(now);
  return isChange && isDue && waitsForChange(workload, strategy) ? revert.attempt : undefined;
}

const waitsForChange = ({ metadata }: Workload, strategy: InjectorSettings['strategy']): boolean =>
  strategy === 'on-next-change' || (strategy === 'manual' && metadata.annotations?.[annotations.retry] === undefined);

/** Removes an injection that a user brought back, and keeps the record of its revert. */
export function takeBack(workload: Workload, { code, message }: Decision): Decision {
  const clean = uninstrument(workload);
  const revert = findRevert(workload.metadata);
  const metadata = revert === undefined ? clean.metadata : withRevert(clean.metadata, revert);
  return corrected({ ...clean, metadata }, code, `${sentence('removed', workload)}: ${message}`);
}

export function decideRevert({ workload, injector, now, failed }: DecisionInput): Decision | undefined {
  const template = toTemplate(workload);
  if (failed === undefined || template === undefined || !isInjected(template)) return undefined;
  // The workload may have another template by now, which has not failed.
  const isSame = injectionStatusText(workload.metadata) === failed.injectionStatus;
  if (!isSame || fingerprint(template) !== failed.template) return undefined;
  const { attempt, evidence } = failed;
  if (workload.kind === 'Job') return blocked('remove', 'job-immutable-removal', workload, evidence.message);
  const clean = uninstrument(workload);
  const revert = { at: now, cause: evidence.cause, attempt, key: revertKey(clean, template, injector.image) };
  const record = (text: string) => ({ ...clean, metadata: withRevert(clean.metadata, { ...revert, evidence: text }) });
  const text = whyInvalid(record(evidence.message)) === undefined ? evidence.message : 'see the log';
  const message = `The injection is removed because pods failed with it: ${evidence.message}`;
  return { kind: 'remove', tried: 'remove', workload: record(text), code: 'removed', cause: 'reverted', message };
}
