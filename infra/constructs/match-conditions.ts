import { texts } from './cel.ts';
import { followers, labels, probeLabel, workloads } from '../../runtime/contract.ts';

/**
 * What the API server checks, in CEL, before it calls a webhook. An expression that fails would make it skip the webhook
 * (failurePolicy Ignore), so nothing is read that could be missing: a template is part of each of Kubernetes' own kinds by value,
 * even where a request leaves it out, while labels and the rest are asked for first; a Rollout may have none of its own.
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

/** Whether anything changed that an injection depends on; a scaled Deployment or a new annotation costs no call. */
const injectionConcerned = [
  `request.operation != 'UPDATE'`,
  `${podTemplate('object')} != ${podTemplate('oldObject')}`,
  `${autoTrace('object')} != ${autoTrace('oldObject')}`,
].join(' || ');

/**
 * A ReplicaSet of a Deployment and a Job of a CronJob take their pod template from it, so the webhook has nothing to add. Without
 * this condition it would be called for each rollout and each run in the cluster.
 */
const decidesByItself =
  `!(request.kind.kind in ${texts(followers)} && has(object.metadata.ownerReferences) && ` +
  `object.metadata.ownerReferences.exists(owner, has(owner.controller) && owner.controller && ` +
  `(owner.apiVersion + '/' + owner.kind) in ${texts(workloads.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`))}))`;

/** A dry run by which the operator proves that its webhook is called by this very rule. */
const isProbe =
  `has(request.dryRun) && request.dryRun && ` +
  `has(object.metadata.labels) && '${probeLabel}' in object.metadata.labels`;

/** For the injector. `operator` is the user that the API server knows the operator as. */
export const injectorConditions = (operator: string): readonly MatchCondition[] => [
  { name: 'not-by-the-operator', expression: `request.userInfo.username != '${operator}' || (${isProbe})` },
  { name: 'injection-concerned', expression: injectionConcerned },
  { name: 'decides-by-itself', expression: decidesByItself },
  { name: 'not-being-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
];

/** For Lumigo resources: their creation, and the dry runs by which the operator proves that its webhook is reached. */
export const lumigoConditions = (operator: string): readonly MatchCondition[] => [
  {
    name: 'created-or-probed',
    expression:
      `request.operation == 'CREATE' || ` +
      `(request.userInfo.username == '${operator}' && has(request.dryRun) && request.dryRun)`,
  },
];
