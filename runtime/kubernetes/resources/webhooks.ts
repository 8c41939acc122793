import type * as api from '@kubernetes/client-node';
import { suffixes } from '../../contract.ts';
import type { Frozen } from '../../api/objects.ts';
import { kinds } from './kinds.ts';
import type { KubernetesObject } from './objects.ts';

export type Webhook = Frozen<api.V1MutatingWebhook>;

export const webhooksRef = ({ operatorName }: { readonly operatorName: string }) => ({
  ...kinds.webhooks,
  name: `${operatorName}${suffixes.injectorWebhook}`,
});

export const getWebhooks = (configuration: KubernetesObject): readonly Webhook[] =>
  (configuration as { readonly webhooks?: readonly Webhook[] }).webhooks ?? [];
