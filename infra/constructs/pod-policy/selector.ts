import { all, fieldOr, type Cel } from '../cel.ts';

const selector = (field: string, empty: Cel): Cel =>
  fieldOr('params', `spec.tracing.injection.selector.${field}`, empty);
const labels = fieldOr('object', 'metadata.labels', '{}');
const values = fieldOr('expression', 'values', '[]');

/** The condition that the namespace's selector selects a pod, by the rules of `selects`. */
export const isSelected: Cel = all(
  `${selector('matchLabels', '{}')}.all(key, value, ${labels}[?key] == optional.of(value))`,
  `${selector('matchExpressions', '[]')}.all(expression, {
    'In': expression.key in ${labels} && ${labels}[expression.key] in ${values},
    'NotIn': !(expression.key in ${labels} && ${labels}[expression.key] in ${values}),
    'Exists': expression.key in ${labels},
    'DoesNotExist': !(expression.key in ${labels})
  }[expression.operator])`,
);
