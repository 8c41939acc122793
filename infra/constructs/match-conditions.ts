import { texts } from './cel.ts';
import { labels, probeLabel, workloads } from '../../runtime/contract.ts';

/**
 * A CEL condition that the API server checks before it calls a webhook. A failing expression would skip the webhook (`failurePolicy:
 * Ignore`), so each optional field is tested before it is read. The built-in kinds always have a pod template, but a Rollout may lack one.
 */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

const podTemplate = (object: string): string =>
  `(has(${object}.spec.jobTemplate) ? ${object}.spec.jobTemplate.spec.template : ` +
  `has(${object}.spec.template) ? ${object}.spec.template : {})`;

const autoTrace = (object: string): string =>
  `(has(${object}.metadata.labels) && '${labels.autoTrace}' in ${object}.metadata.labels ? ` +
  `${object}.metadata.labels['${labels.autoTrace}'] : '')`;

/** A scaled Deployment or a new annotation causes no call, because the injection does not depend on it. */
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

export const injectorConditions = (operator: string): readonly MatchCondition[] => [
  { name: 'not-by-the-operator', expression: `request.userInfo.username != '${operator}' || (${isProbe})` },
  { name: 'injection-concerned', expression: injectionConcerned },
  { name: 'decides-by-itself', expression: decidesByItself },
  { name: 'not-being-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
];

export const lumigoConditions = (operator: string): readonly MatchCondition[] => [
  {
    name: 'created-or-probed',
    expression:
      `request.operation == 'CREATE' || ` +
      `(request.userInfo.username == '${operator}' && has(request.dryRun) && request.dryRun)`,
  },
];
