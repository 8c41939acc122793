import { lumigo, probeLabel, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { all, any, fieldOr, sameExcept, text } from '../constructs/cel.ts';
import { isFinalizer, sameMetadata } from './metadata-rules.ts';
import { toPolicy, type OwnObject } from './own-object-rules.ts';
import type { Policy } from './policy.ts';
import { excludedNamespaces } from './workload-policy.ts';

const object = 'variables.object';
const before = 'variables.before';

/** `monitoredNamespaces` sets these flags of an existing `Lumigo` resource. */
const flagged = ['tracing', 'logging'] as const;
const sameButFlags = flagged.map((section) =>
  sameExcept(fieldOr(object, `spec.${section}`, '{}'), fieldOr(before, `spec.${section}`, '{}'), ['enabled']),
);

const getObjects = ({ monitoredNamespaces }: Settings): readonly OwnObject[] => [
  {
    group: lumigo.group,
    version: lumigo.version,
    resource: lumigo.plural,
    may: 'change only its own finalizer of a Lumigo resource, and with monitoredNamespaces the flags `enabled`',
    create: `${object}.metadata.name == ${text(lumigo.singular)}`,
    update: all(
      sameExcept(object, before, ['metadata', 'spec', 'status']),
      ...(monitoredNamespaces.length === 0
        ? [`${object}.spec == ${before}.spec`]
        : [sameExcept(`${object}.spec`, `${before}.spec`, flagged), ...sameButFlags]),
      sameMetadata(object, before, {
        labels: (key) => `(${key} == ${text(probeLabel)})`,
        finalizers: isFinalizer(lumigo.finalizer),
      }),
    ),
  },
  {
    group: '',
    resource: 'secrets',
    may: 'create only Secrets of the type Opaque in other namespaces',
    // A Secret of another type can contain the token of any account in its namespace.
    create: any('request.namespace == variables.operatorNamespace', `${object}.type == 'Opaque'`),
  },
  {
    group: '',
    resource: 'pods/eviction',
    may: 'evict no pod of an excluded namespace',
    create: '!(request.namespace in variables.excludedNamespaces)',
  },
];

export function namespacesPolicy(settings: Settings): Policy {
  const policy = toPolicy(getObjects(settings), settings);
  const variables = { ...policy.variables, excludedNamespaces: excludedNamespaces(settings) };
  return { suffix: suffixes.guardNamespaces, ...policy, variables };
}
