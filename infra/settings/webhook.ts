import { z } from 'zod';
import { excludedNamespaces, webhooks } from '../../runtime/contract.ts';
import { commonName, dnsLabel, dnsSubdomain, orEmpty, section, wholeNumber } from './leaves.ts';

/** Whom the webhook answers, about what, and within which time. */
export const webhook = section({
  excludedNamespaces: z
    .array(dnsLabel(), { error: 'must be a list of namespaces' })
    .min(1, 'must name at least one namespace, such as kube-system')
    .default([...excludedNamespaces])
    .describe("Namespaces whose workloads are never instrumented; the operator's own is always one of them."),
  timeoutSeconds: wholeNumber(1, 30)
    .default(webhooks.timeoutSeconds)
    .describe('How long the API server waits for the webhook before it goes on without.'),
  clientCa: section({
    configMap: orEmpty(dnsSubdomain(), 'must be the name of a ConfigMap, or empty').describe(
      "A ConfigMap in the operator's namespace whose `ca.crt` is the authority of the API server's client certificate: nobody " +
        'else is answered by the webhook. The API server has to be told of that certificate first, which managed clusters do ' +
        'not offer (docs/security/README.md). Empty: the webhook answers everybody.',
    ),
    names: z
      .array(commonName(), { error: 'must be a list of common names' })
      .default([])
      .describe(
        'The common names of which that certificate has to have one; empty: any. Needed where the authority signs for others too, ' +
          "as the cluster's own does.",
      ),
  }),
});
