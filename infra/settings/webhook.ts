import { z } from 'zod';
import { excludedNamespaces, webhooks } from '../../runtime/contract.ts';
import { dnsLabel, section, wholeNumber } from './leaves.ts';

export const webhook = section({
  excludedNamespaces: z
    .array(dnsLabel(), { error: 'must be a list of namespaces' })
    .default([])
    .transform((added) => [...new Set([...excludedNamespaces, ...added])])
    .describe(
      "More namespaces whose workloads are never instrumented. Those of Kubernetes (`kube-system`, `kube-node-lease`, `kube-public`) and the operator's own are always excluded.",
    ),
  timeoutSeconds: wholeNumber(1, 30)
    .default(webhooks.timeoutSeconds)
    .describe('How long the API server waits for the webhook. After that it admits the object without injection.'),
});
