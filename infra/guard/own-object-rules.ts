import { all, any, text, type Cel } from '../constructs/cel.ts';
import type { Settings } from '../settings/schema.ts';
import type { Policy, Rule, Validation } from './policy.ts';

export interface OwnObject {
  readonly group: string;
  readonly version: string;
  /** The plural, with a subresource after a slash. */
  readonly resource: string;
  /** The row is about the installation's object whose name has this ending. */
  readonly suffix?: string;
  readonly may: string;
  readonly create?: Cel;
  readonly update?: Cel;
}

export const toRule = ({ group, version, resource, suffix, create, update }: OwnObject, { name }: Settings): Rule => ({
  apiGroups: [group],
  apiVersions: [version],
  resources: [resource],
  operations: [
    ...(create === undefined ? [] : ['CREATE' as const]),
    ...(update === undefined ? [] : ['UPDATE' as const]),
  ],
  ...(suffix === undefined ? {} : { resourceNames: [`${name}${suffix}`] }),
});

export function toValidation({ resource, may, create, update }: OwnObject): Validation {
  const conditions = [
    ...(create === undefined ? [] : [any(`request.operation != 'CREATE'`, create)]),
    ...(update === undefined ? [] : [any(`request.operation != 'UPDATE'`, update)]),
  ];
  return { may, expression: any(`variables.resource != ${text(resource)}`, all(...conditions)) };
}

export const ownObjectVariables = ({ name, namespace }: Settings): Policy['variables'] => ({
  installation: text(name),
  operatorNamespace: text(namespace),
  object: 'dyn(object)',
  before: 'dyn(oldObject)',
  resource: `request.resource.resource + (has(request.subResource) ? '/' + request.subResource : '')`,
});

export const ownName = (suffix: string): Cel => `variables.installation + ${text(suffix)}`;
