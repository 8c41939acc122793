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

const getObjects = (settings: Settings): readonly OwnObject[] => [
  {
    group: lumigo.group,
    version: lumigo.version,
    resource: lumigo.plural,
    may: 'change only its own finalizer of a Lumigo resource, and with monitoredNamespaces the flags `enabled`',
    create: `${object}.metadata.name == ${text(lumigo.singular)}`,
    update: all(
      sameExcept(object, before, ['metadata', 'spec', 'status']),
      ...(settings.monitoredNamespaces.length === 0
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
    may: 'create only Secrets of the type Opaque without further metadata in other namespaces',
    // Another type can contain the token of any account. By a label, tools such as Argo CD take a Secret as their own settings.
    create: any(
      'request.namespace == variables.operatorNamespace',
      all(`${object}.type == 'Opaque'`, sameMetadata(object, '{}')),
    ),
  },
  {
    group: '',
    resource: 'pods/eviction',
    may: 'evict no pod of an excluded namespace',
    create: `!(request.namespace in (${excludedNamespaces(settings)}))`,
  },
];

export const namespacesPolicy = (settings: Settings): Policy => ({
  suffix: suffixes.guardNamespaces,
  ...toPolicy(getObjects(settings), settings),
});
