import { certificateFiles, cleanupFinalizer, suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { all, any, fieldOr, sameExcept, texts, type Cel } from '../constructs/cel.ts';
import { isFinalizer, isOurKey, sameMetadata } from './metadata-rules.ts';
import { ownName, toPolicy, type OwnObject } from './own-object-rules.ts';
import type { Policy } from './policy.ts';

/** In seconds. It is the default lifetime of a token. */
const TOKEN_LIFE = 3_600;

const object = 'variables.object';
const before = 'variables.before';
const same = (...changed: readonly string[]): Cel => sameExcept(object, before, ['metadata', ...changed]);

const webhooks = fieldOr(object, 'webhooks', '[]');
const former = fieldOr(before, 'webhooks', '[]');

/** Only the authority of the webhook's certificate may change. */
const sameWebhooks: Cel = all(
  `${webhooks}.map(webhook, webhook.name) == ${former}.map(webhook, webhook.name)`,
  `${webhooks}.all(webhook, ${former}.exists(former, ${all(
    'former.name == webhook.name',
    sameExcept('webhook', 'former', ['clientConfig']),
    sameExcept('webhook.clientConfig', 'former.clientConfig', ['caBundle']),
  )}))`,
);

const isOwn = (suffix: string): Cel => `${object}.metadata.name == ${ownName(suffix)}`;

// The object whose finalizer is released last has an owner among the others, so Kubernetes deletes it after them.
const releases = {
  finalizers: isFinalizer(cleanupFinalizer),
  ownerReferences: (owner: Cel) => `(${owner}.name == ${ownName(suffixes.managerRole)})`,
};

const protectedBy = (resource: string): OwnObject => ({
  group: 'rbac.authorization.k8s.io',
  resource,
  suffix: suffixes.managerRole,
  may: 'change only its own finalizer and owners of its role and the binding',
  update: all(same(), sameMetadata(object, before, releases)),
});

const isOwner = (owner: Cel): Cel =>
  any(...[suffixes.manager, suffixes.managerRole].map((suffix) => `${owner}.name == ${ownName(suffix)}`));
const isOwnRecord = any(isOwn(suffixes.monitored), isOwn(suffixes.received));

const objects: readonly OwnObject[] = [
  protectedBy('clusterroles'),
  protectedBy('clusterrolebindings'),
  {
    group: '',
    resource: 'serviceaccounts',
    may: 'restore its own account, and change only its own metadata of it',
    create: isOwn(suffixes.manager),
    update: all(same(), sameMetadata(object, before, { ...releases, annotations: isOurKey })),
  },
  {
    group: '',
    resource: 'serviceaccounts/token',
    may: `request tokens that are valid for at most ${TOKEN_LIFE} s`,
    create: `${object}.spec.expirationSeconds <= ${TOKEN_LIFE}`,
  },
  {
    group: '',
    resource: 'secrets',
    may: "write only the webhook's certificate, and create the key of the node collectors",
    create: any(
      all(isOwn(suffixes.certificates), `${object}.type == 'kubernetes.io/tls'`),
      all(isOwn(suffixes.nodeCollector), `${fieldOr(object, 'type', "'Opaque'")} == 'Opaque'`),
    ),
    update: all(
      isOwn(suffixes.certificates),
      same('data'),
      sameMetadata(object, before),
      `${fieldOr(object, 'data', '{}')}.all(key, key in ${texts(Object.values(certificateFiles))})`,
    ),
  },
  {
    group: '',
    resource: 'configmaps',
    may: 'write only the record of monitored namespaces and the list of workloads that sent telemetry',
    create: isOwnRecord,
    update: all(isOwnRecord, same('data'), sameMetadata(object, before, { ownerReferences: isOwner })),
  },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    may: 'write only the lease of its leader',
    create: isOwn(suffixes.lease),
    update: isOwn(suffixes.lease),
  },
  {
    group: 'admissionregistration.k8s.io',
    resource: 'mutatingwebhookconfigurations',
    suffix: suffixes.injectorWebhook,
    may: 'change only the caBundle of its webhooks',
    update: all(same('webhooks'), sameMetadata(object, before), sameWebhooks),
  },
];

export const installationPolicy = (settings: Settings): Policy => ({
  suffix: suffixes.guardInstallation,
  namespace: settings.namespace,
  ...toPolicy(objects, settings),
});
