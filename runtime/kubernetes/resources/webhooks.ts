import type * as api from '@kubernetes/client-node';
import { suffixes } from '../../contract.ts';
import type { Raw } from '../../injection/types.ts';
import { kinds } from './kinds.ts';
import type { KubernetesObject } from './objects.ts';

/** A webhook, as it stands in a MutatingWebhookConfiguration. */
export type Webhook = Raw<api.V1MutatingWebhook>;

/** The configurations of an installation: the injector's own, and the one for pods, which is filled while a namespace is in Pod mode. */
export const webhookRefs = ({ operatorName }: { readonly operatorName: string }) => ({
  injector: { ...kinds.webhooks, name: `${operatorName}${suffixes.injectorWebhook}` },
  pods: { ...kinds.webhooks, name: `${operatorName}${suffixes.podWebhook}` },
});

export const webhooksOf = (configuration: KubernetesObject): readonly Webhook[] =>
  (configuration as { readonly webhooks?: readonly Webhook[] }).webhooks ?? [];
