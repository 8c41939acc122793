import { injectionsOwn, tracerSettings as limits } from '../../runtime/injection/tracer-settings.ts';
import { texts } from './cel.ts';

const text = (description: string, pattern: string, maxLength: number) => ({
  type: 'string',
  description,
  pattern,
  maxLength,
});

const exactlyOne = (...fields: readonly [string, string]) => ({
  rule: fields.map((field) => `has(self.${field})`).join(' != '),
  message: `must have either ${fields.join(' or ')}`,
});

const KUBERNETES_NAME = 253;

/** The reference is optional for a pod, so that a missing object does not keep it from starting. */
const toKeySchema = (kind: string) => ({
  type: 'object',
  description: `A key of a ${kind} in the same namespace. If it does not exist, the variable is not set.`,
  required: ['name', 'key'],
  properties: {
    name: text(`The name of the ${kind}.`, limits.secretOrConfigMap, KUBERNETES_NAME),
    key: text(`The key in the ${kind}.`, limits.key, KUBERNETES_NAME),
  },
});

const valueFrom = {
  type: 'object',
  description: 'A reference to the value.',
  properties: { secretKeyRef: toKeySchema('Secret'), configMapKeyRef: toKeySchema('ConfigMap') },
  'x-kubernetes-validations': [exactlyOne('secretKeyRef', 'configMapKeyRef')],
};

const setting = {
  type: 'object',
  required: ['name'],
  properties: {
    name: {
      ...text('The name of the variable, which begins with LUMIGO_ or OTEL_.', limits.name, limits.MAX_NAME_CHARACTERS),
      'x-kubernetes-validations': [
        {
          rule: `!(self in ${texts(injectionsOwn)})`,
          message: 'must not be a variable that the injection sets itself',
        },
      ],
    },
    value: text('The value, without control characters.', limits.value, limits.MAX_CHARACTERS),
    valueFrom,
  },
  'x-kubernetes-validations': [exactlyOne('value', 'valueFrom')],
};

const characters = [
  'setting.name.size()',
  '(has(setting.value) ? setting.value.size() : 0)',
  ...['secretKeyRef', 'configMapKeyRef'].map((source) => {
    const path = `setting.valueFrom.${source}`;
    return `(has(setting.valueFrom) && has(${path}) ? ${path}.name.size() + ${path}.key.size() : 0)`;
  }),
].join(' + ');

export const tracerSettingsSchema = {
  type: 'array',
  description: `Settings for the tracers of this namespace, as variables of each injected container. A variable of the container itself wins. At most ${limits.MAX_SETTINGS}, with ${limits.MAX_CHARACTERS} characters in total.`,
  maxItems: limits.MAX_SETTINGS,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: setting,
  'x-kubernetes-validations': [
    {
      rule: `self.map(setting, ${characters}).sum() <= ${limits.MAX_CHARACTERS}`,
      message: `must not have more than ${limits.MAX_CHARACTERS} characters in total`,
    },
  ],
};
