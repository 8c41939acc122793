import { all, any, text, type Cel } from '../constructs/cel.ts';
import type { Settings } from '../settings/schema.ts';
import type { Policy, Rule, Validation } from './policy.ts';

/** The manager's changes of a kind of object that are allowed. */
export interface OwnObject {
  readonly group: string;
  readonly version: string;
  /** Plural, with a subresource after a slash. */
  readonly resource: string;
  /** Only the object of the installation whose name ends so. */
  readonly suffix?: string;
  /** See `Validation`. */
  readonly may: string;
  /** The condition of a new object, if the manager may create one. */
  readonly create?: Cel;
  /** The condition of a changed one, if the manager may change one. */
  readonly update?: Cel;
}

/** The rule by which a policy meets the writes of a row. */
export const ruleOf = ({ group, version, resource, suffix, create, update }: OwnObject, { name }: Settings): Rule => ({
  apiGroups: [group],
  apiVersions: [version],
  resources: [resource],
  operations: [
    ...(create === undefined ? [] : ['CREATE' as const]),
    ...(update === undefined ? [] : ['UPDATE' as const]),
  ],
  ...(suffix === undefined ? {} : { resourceNames: [`${name}${suffix}`] }),
});

export function validationOf({ resource, may, create, update }: OwnObject): Validation {
  const conditions = [
    ...(create === undefined ? [] : [any(`request.operation != 'CREATE'`, create)]),
    ...(update === undefined ? [] : [any(`request.operation != 'UPDATE'`, update)]),
  ];
  return { may, expression: any(`variables.resource != ${text(resource)}`, all(...conditions)) };
}

/** The CEL variables of a policy with such rows. The types of the kinds differ, so the objects are dynamic. */
export const ownObjectVariables = ({ name, namespace }: Settings): Policy['variables'] => ({
  installation: text(name),
  operatorNamespace: text(namespace),
  object: 'dyn(object)',
  before: 'dyn(oldObject)',
  resource: `request.resource.resource + (has(request.subResource) ? '/' + request.subResource : '')`,
});

/** Returns the name of an object of the installation. */
export const ownName = (suffix: string): Cel => `variables.installation + ${text(suffix)}`;
