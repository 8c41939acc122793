import { z } from 'zod';
import { excludedNamespaces, webhooks } from '../../runtime/contract.ts';
import { commonName, dnsLabel, dnsSubdomain, orEmpty, section, wholeNumber } from './leaves.ts';

/** The settings of the admission webhook. */
export const webhook = section({
  excludedNamespaces: z
    .array(dnsLabel(), { error: 'must be a list of namespaces' })
    .min(1, 'must name at least one namespace, such as kube-system')
    .default([...excludedNamespaces])
    .describe("Namespaces whose workloads are never instrumented. The operator's own namespace is always excluded."),
  timeoutSeconds: wholeNumber(1, 30)
    .default(webhooks.timeoutSeconds)
    .describe('How long the API server waits for the webhook. After that it admits the object without injection.'),
  clientCa: section({
    configMap: orEmpty(dnsSubdomain(), 'must be the name of a ConfigMap, or empty').describe(
      "A ConfigMap in the operator's namespace whose `ca.crt` is the authority of the API server's client certificate. The webhook " +
        'then answers only clients with such a certificate. Configure that certificate in the API server first, which managed ' +
        'clusters do not support (docs/security/README.md). Empty: the webhook answers every client.',
    ),
    names: z
      .array(commonName(), { error: 'must be a list of common names' })
      .default([])
      .describe(
        'Accepted common names of the client certificate. Empty: any. Set them if the authority also signs for other clients, as ' +
          "the cluster's own authority does.",
      ),
  }),
});
