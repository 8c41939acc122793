import { Construct } from 'constructs';
import { annotations, labels as contract, lumigo, pods, suffixes } from '../../../runtime/contract.ts';
import type { Settings } from '../../settings/schema.ts';
import { addPolicy, includedNamespaces, namespacedRule, type Expressions } from '../admission.ts';
import { all, entryOr, fieldOr, text, type Cel } from '../cel.ts';
import { labels } from '../labels.ts';
import { containerVariables } from './containers.ts';
import { fitVariables } from './fits.ts';
import { patch } from './operations.ts';
import { resourceVariables } from './resources.ts';
import { baseVariables } from './variables.ts';
import { valueVariables } from './values.ts';

const secret = (field: 'name' | 'key'): Cel => `params.spec.lumigoToken.secretRef.${field}`;
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

const selector = (field: string, empty: Cel): Cel =>
  fieldOr('params', `spec.tracing.injection.selector.${field}`, empty);
const ownLabels = fieldOr('object', 'metadata.labels', '{}');
const values = fieldOr('expression', 'values', '[]');

/** The condition that the namespace's selector selects a pod, by the rules of `selects`. */
const isSelected: Cel = all(
  `${selector('matchLabels', '{}')}.all(key, value, ${ownLabels}[?key] == optional.of(value))`,
  `${selector('matchExpressions', '[]')}.all(expression, {
    'In': expression.key in ${ownLabels} && ${ownLabels}[expression.key] in ${values},
    'NotIn': !(expression.key in ${ownLabels} && ${ownLabels}[expression.key] in ${values}),
    'Exists': expression.key in ${ownLabels},
    'DoesNotExist': !(expression.key in ${ownLabels})
  }[expression.operator])`,
);

/** The conditions of an injection. Only one of several `Lumigo` resources in a namespace is active. */
const conditions: Expressions = {
  'lumigo-injects-pods': all(
    `${fieldOr('params', 'spec.tracing.injection.mode', "''")} == 'Pod'`,
    fieldOr('params', 'spec.tracing.injection.enabled', 'true'),
  ),
  'lumigo-selects-the-pod': isSelected,
  'lumigo-is-active': all(
    '!has(params.metadata.deletionTimestamp)',
    `${fieldOr('params', 'status.conditions', '[]')}.exists(condition, condition.type == 'Active' && condition.status == 'True')`,
  ),
  // The API server refuses a pod that refers to an invalid name.
  'secret-has-a-valid-name': all(
    `${secret('name')}.matches(${text(`^${LABEL}([.]${LABEL})*$`)})`,
    `${secret('key')}.matches('^[-._a-zA-Z0-9]+$')`,
    `!${secret('key')}.matches('^([.]$|[.][.])')`,
  ),
  'pod-does-not-opt-out': `${entryOr(ownLabels, contract.autoTrace)}.lowerAscii() != 'false'`,
  // A mirror pod may refer to no Secret.
  'pod-is-not-of-a-node': `!(${text(annotations.mirror)} in ${fieldOr('object', 'metadata.annotations', '{}')})`,
};

/** Pod mode: a policy by which the API server injects new pods, also while no operator runs (docs/contributing/adr/0034). */
export class PodPolicy extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    addPolicy(this, {
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: `${settings.name}${suffixes.podPolicy}`, labels: labels(settings, 'pod-policy') },
      conditions,
      variables: {
        ...baseVariables(settings),
        ...containerVariables,
        ...resourceVariables,
        ...valueVariables,
        ...fitVariables,
      },
      spec: {
        paramKind: { apiVersion: lumigo.apiVersion, kind: lumigo.kind },
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'Never',
        matchConstraints: {
          matchPolicy: 'Equivalent',
          resourceRules: [namespacedRule(pods, ['CREATE'])],
          namespaceSelector: includedNamespaces(settings),
        },
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }],
      },
      binding: { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } },
    });
  }
}
