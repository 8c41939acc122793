import { flag, opaqueList, section } from './leaves.ts';

const peers = "in the form of a NetworkPolicy's `from`. Empty: all sources.";

export const networkPolicy = section({
  enabled: flag()
    .default(false)
    .describe(
      "Creates a NetworkPolicy that limits each port of the operator's pods to the sources below (docs/security/README.md lists " +
        'the ports). It needs a network plugin that enforces NetworkPolicies. Outgoing connections are not limited.',
    ),
  webhook: section({
    from: opaqueList()
      .default([])
      .describe(
        `Sources of API server calls to the webhook, ${peers} Most API servers run on a host's network or outside of the cluster. Only an \`ipBlock\` matches those, ` +
          'for example `[{ipBlock: {cidr: 10.0.0.0/28}}]`.',
      ),
  }),
  otlp: section({
    from: opaqueList()
      .default([{ namespaceSelector: {} }])
      .describe(
        `Sources of telemetry, ${peers} For pods with \`hostNetwork\`, ` +
          'add an `ipBlock` with the addresses of the nodes.',
      ),
  }),
  metrics: section({
    from: opaqueList()
      .default([{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }])
      .describe(`Sources that scrape metrics, ${peers}`),
  }),
});
