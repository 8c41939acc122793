import { oneOf, opaqueMap, section } from './leaves.ts';

/** Who makes the certificate of the webhook. */
export const certificates = section({
  issuer: oneOf('delivery', 'operator', 'cert-manager', 'external')
    .default('delivery')
    .describe(
      'Who makes the certificate of the webhook: `delivery` (Helm and Pulumi, with each installation and upgrade; with plain YAML, ' +
        'in which no key may stand, the operator), `operator` (in each delivery the operator, so that rendering a chart gives ' +
        'the same each time), `cert-manager` (which has to be there: its Certificate is among the objects, and its CA injector ' +
        'tells the API server of it) or `external` (somebody else keeps the Secret and the caBundle of the webhook). Unless it is ' +
        'one of the last two, the operator renews it in time.',
    ),
  issuerRef: opaqueMap()
    .default({})
    .describe(
      "The issuer that cert-manager uses, as a Certificate's `issuerRef`, e.g. `{kind: ClusterIssuer, name: internal}`; empty: an " +
        'authority of its own, for this webhook alone.',
    ),
});
