import { all, any, text, type Cel } from '../constructs/cel.ts';
import type { Settings } from '../settings/schema.ts';
import type { Rule, Validation } from './policy.ts';

export interface OwnObject {
  readonly group: string;
  /** Default: v1. */
  readonly version?: string;
  /** The plural, with a subresource after a slash. */
  readonly resource: string;
  /** The row is about the installation's object whose name has this ending. */
  readonly suffix?: string;
  readonly may: string;
  readonly create?: Cel;
  readonly update?: Cel;
}

/** Returns the rules of a policy about these objects, its variables, and a validation for each row. */
export const toPolicy = (objects: readonly OwnObject[], { name, namespace }: Settings) => ({
  rules: objects.map((row) => toRule(row, name)),
  variables: {
    installation: text(name),
    operatorNamespace: text(namespace),
    object: 'dyn(object)',
    before: 'dyn(oldObject)',
    resource: `request.resource.resource + (has(request.subResource) ? '/' + request.subResource : '')`,
  },
  validations: objects.map(toValidation),
});

const toRule = ({ group, version = 'v1', resource, suffix, create, update }: OwnObject, name: string): Rule => ({
  apiGroups: [group],
  apiVersions: [version],
  resources: [resource],
  operations: [
    ...(create === undefined ? [] : ['CREATE' as const]),
    ...(update === undefined ? [] : ['UPDATE' as const]),
  ],
  ...(suffix === undefined ? {} : { resourceNames: [`${name}${suffix}`] }),
});

function toValidation({ resource, may, create, update }: OwnObject): Validation {
  const conditions = [
    ...(create === undefined ? [] : [any(`request.operation != 'CREATE'`, create)]),
    ...(update === undefined ? [] : [any(`request.operation != 'UPDATE'`, update)]),
  ];
  return { may, expression: any(`variables.resource != ${text(resource)}`, all(...conditions)) };
}

export const ownName = (suffix: string): Cel => `variables.installation + ${text(suffix)}`;
