/** Numbers of items, and characters of a label's key with its prefix and of its value. */
const MAX = { labels: 16, expressions: 8, values: 16, key: 317, value: 63 } as const;

const text = (description: string, maxLength: number) => ({ type: 'string', description, maxLength });
const validated = (rule: string, message: string) => ({ 'x-kubernetes-validations': [{ rule, message }] });

const requirement = {
  type: 'object',
  required: ['key', 'operator'],
  properties: {
    key: { ...text('The key of the label.', MAX.key), minLength: 1 },
    operator: {
      type: 'string',
      enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      description: 'The relation between the label and the values.',
    },
    values: {
      type: 'array',
      description: 'The values for In and NotIn.',
      maxItems: MAX.values,
      items: { type: 'string', maxLength: MAX.value },
    },
  },
  ...validated(
    "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
    'must have values for In and NotIn, and none for Exists and DoesNotExist',
  ),
};

export const selectorSchema = {
  type: 'object',
  description:
    'The workloads that the operator instruments, by their labels; in Pod mode the pods. It removes the injection from others. Default: all.',
  properties: {
    matchLabels: {
      type: 'object',
      description: 'Labels that a workload must have, with their values.',
      maxProperties: MAX.labels,
      additionalProperties: { type: 'string', maxLength: MAX.value },
      ...validated(`self.all(key, key.size() <= ${MAX.key})`, `must have keys of at most ${MAX.key} characters`),
    },
    matchExpressions: {
      type: 'array',
      description: 'Conditions that the labels of a workload must meet.',
      maxItems: MAX.expressions,
      items: requirement,
    },
  },
};
