import { lumigo, probeLabel, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { all, any, fieldOr, sameExcept, text } from '../constructs/cel.ts';
import { isFinalizer, sameMetadata } from './metadata-rules.ts';
import { ownObjectVariables, toRule, toValidation, type OwnObject } from './own-object-rules.ts';
import type { Policy } from './policy.ts';
import { excludedNamespaces } from './workload-policy.ts';

const [object, before] = ['variables.object', 'variables.before'];

/** `monitoredNamespaces` sets these flags of an existing `Lumigo` resource. */
const flags = ['tracing', 'logging'].map((section) =>
  sameExcept(fieldOr(object, `spec.${section}`, '{}'), fieldOr(before, `spec.${section}`, '{}'), ['enabled']),
);

const objects: readonly OwnObject[] = [
  {
    ...{ group: lumigo.group, version: lumigo.version, resource: lumigo.plural },
    may: 'change only its own finalizer and the flags `enabled` of a Lumigo resource',
    create: `${object}.metadata.name == ${text(lumigo.singular)}`,
    update: all(
      sameExcept(object, before, ['metadata', 'spec', 'status']),
      sameExcept(`${object}.spec`, `${before}.spec`, ['tracing', 'logging']),
      ...flags,
      sameMetadata(object, before, {
        labels: (key) => `(${key} == ${text(probeLabel)})`,
        finalizers: isFinalizer(lumigo.finalizer),
      }),
    ),
  },
  {
    ...{ group: '', version: 'v1', resource: 'secrets' },
    may: 'create only Secrets of the type Opaque in other namespaces',
    // A Secret of another type can contain the token of any account in its namespace.
    create: any('request.namespace == variables.operatorNamespace', `${object}.type == 'Opaque'`),
  },
  {
    ...{ group: '', version: 'v1', resource: 'pods/eviction' },
    may: 'evict no pod of an excluded namespace',
    create: '!(request.namespace in variables.excludedNamespaces)',
  },
];

export const namespacesPolicy = (settings: Settings): Policy => ({
  suffix: suffixes.guardNamespaces,
  rules: objects.map((row) => toRule(row, settings)),
  variables: { ...ownObjectVariables(settings), excludedNamespaces: excludedNamespaces(settings) },
  validations: objects.map(toValidation),
});
