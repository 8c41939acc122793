import { oneOf, opaqueMap, section } from './leaves.ts';

export const certificates = section({
  issuer: oneOf('delivery', 'operator', 'cert-manager', 'external')
    .default('delivery')
    .describe(
      'The issuer of the webhook certificate. `delivery`: Helm and Pulumi create the certificate with each installation and upgrade. ' +
        'With plain YAML, which must not contain a key, the operator creates it. `operator`: the operator creates it in any case, ' +
        'so that rendering the chart gives the same result each time. `cert-manager`: a Certificate resource requests it. ' +
        'cert-manager and its CA injector must be installed. `external`: you provide the Secret and the `caBundle` of the webhook. ' +
        'The operator renews the certificate in time, except with `cert-manager` and `external`.',
    ),
  issuerRef: opaqueMap()
    .default({})
    .describe(
      "The issuer that cert-manager uses, in the form of a Certificate's `issuerRef`, e.g. `{kind: ClusterIssuer, name: internal}`. " +
        'Empty: a new authority for this webhook only.',
    ),
});
