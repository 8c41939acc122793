import { z } from 'zod';
import { excludedNamespaces, webhooks } from '../../runtime/contract.ts';
import { dnsLabel, section, wholeNumber } from './leaves.ts';

export const webhook = section({
  excludedNamespaces: z
    .array(dnsLabel(), { error: 'must be a list of namespaces' })
    .min(1, 'must name at least one namespace, such as kube-system')
    .default([...excludedNamespaces])
    .describe("Namespaces whose workloads are never instrumented. The operator's own namespace is always excluded."),
  timeoutSeconds: wholeNumber(1, 30)
    .default(webhooks.timeoutSeconds)
    .describe('How long the API server waits for the webhook. After that it admits the object without injection.'),
});
