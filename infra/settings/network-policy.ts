import { flag, opaqueList, section } from './leaves.ts';

const peers = "as a NetworkPolicy's `from`; empty: from anywhere.";

/** Who may reach the operator's pods, for clusters whose network keeps to NetworkPolicies. */
export const networkPolicy = section({
  enabled: flag()
    .default(false)
    .describe(
      "Whether a NetworkPolicy closes each port of the operator's pods to whoever has no business there (docs/security/README.md lists " +
        'them). It needs a network plugin that enforces NetworkPolicies; what the pods reach themselves stays open.',
    ),
  webhook: section({
    from: opaqueList()
      .default([])
      .describe(
        `From where the API server comes to the webhook, ${peers} Mostly it runs on the network of a host, or outside of the ` +
          'cluster, where only `ipBlock` can name it: e.g. `[{ipBlock: {cidr: 10.0.0.0/28}}]`.',
      ),
  }),
  otlp: section({
    from: opaqueList()
      .default([{ namespaceSelector: {} }])
      .describe(
        `From where traces and logs come, ${peers} Programs on the network of their host are in no namespace for a ` +
          'NetworkPolicy: for them add an `ipBlock` with the addresses of the nodes.',
      ),
  }),
  metrics: section({
    from: opaqueList()
      .default([{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }])
      .describe(`From where metrics are scraped, ${peers}`),
  }),
});
