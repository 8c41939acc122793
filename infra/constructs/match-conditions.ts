import { labels, probeLabel, workloads } from '../../runtime/contract.ts';
import type { Expressions } from './admission.ts';
import { texts } from './cel.ts';

const podTemplate = (object: string): string =>
  `(has(${object}.spec.jobTemplate) ? ${object}.spec.jobTemplate.spec.template : ` +
  `has(${object}.spec.template) ? ${object}.spec.template : {})`;

const autoTrace = (object: string): string =>
  `(has(${object}.metadata.labels) && '${labels.autoTrace}' in ${object}.metadata.labels ? ` +
  `${object}.metadata.labels['${labels.autoTrace}'] : '')`;

/** A scaled Deployment or a new annotation causes no call. The reconciler follows those that choose containers. */
const injectionConcerned = [
  `request.operation != 'UPDATE'`,
  `${podTemplate('object')} != ${podTemplate('oldObject')}`,
  `${autoTrace('object')} != ${autoTrace('oldObject')}`,
].join(' || ');

/** The rule of `findOwner`. Without this condition, each rollout and each run of a CronJob would call the webhook. */
const decidesByItself =
  `!(request.kind.kind in ['ReplicaSet', 'Job'] && has(object.metadata.ownerReferences) && ` +
  `object.metadata.ownerReferences.exists(owner, has(owner.controller) && owner.controller && ` +
  `(request.kind.kind == 'ReplicaSet' || ` +
  `(owner.apiVersion + '/' + owner.kind) in ${texts(workloads.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`))})))`;

/** The operator proves by such a dry run that this rule calls its webhook. */
const isProbe =
  `has(request.dryRun) && request.dryRun && ` +
  `has(object.metadata.labels) && '${probeLabel}' in object.metadata.labels`;

/**
 * CEL conditions that the API server checks before it calls a webhook. A failing expression would skip the webhook (`failurePolicy:
 * Ignore`), so each optional field is tested before it is read. The built-in kinds always have a pod template, but a Rollout may lack one.
 */
export const injectorConditions = (operator: string): Expressions => ({
  'not-by-the-operator': `request.userInfo.username != '${operator}' || (${isProbe})`,
  'injection-concerned': injectionConcerned,
  'decides-by-itself': decidesByItself,
  'not-being-deleted': '!has(object.metadata.deletionTimestamp)',
});

export const lumigoConditions = (operator: string): Expressions => ({
  'created-or-probed':
    `request.operation == 'CREATE' || ` +
    `(request.userInfo.username == '${operator}' && has(request.dryRun) && request.dryRun)`,
});
