import { certificateFiles, suffixes } from '../../runtime/contract.ts';
import type { DeliveredCertificate } from '../constructs/webhook-certificate.ts';
import type { Expression } from './markers.ts';

/** The validity of a certificate that Helm creates. The operator renews it if no upgrade does. */
const VALID_DAYS = 365;

/** The markers for the certificate. Helm creates a new one whenever it renders the chart. */
export const markedCertificate: DeliveredCertificate = {
  certificate: 'xhelmcertificatex',
  key: 'xhelmkeyx',
  authority: 'xhelmauthorityx',
  checksum: 'xhelmchecksumx',
};

export const certificateExpressions: ReadonlyMap<string, Expression> = new Map(
  Object.entries(markedCertificate).map(([field, marker]: [string, string]) => [
    marker,
    {
      path: 'certificates.issuer',
      code: `(include "lumigo-operator.certificate" $ | fromJson).${field}`,
      type: 'text',
    },
  ]),
);

/**
 * Creates the certificate once for all templates, which share only the values. The authority of the previous certificate stays in the
 * Secret, so that it stays trusted.
 */
export const certificateHelper = `{{- define "lumigo-operator.certificate" -}}
{{- if not (hasKey $.Values "madeCertificate") -}}
{{- $host := printf "%s${suffixes.webhookService}.%s.svc" (include "lumigo-operator.fullname" $) $.Release.Namespace -}}
{{- $authority := genCA "lumigo-operator" ${VALID_DAYS} -}}
{{- $pair := genSignedCert $host nil (list $host) ${VALID_DAYS} $authority -}}
{{- $there := lookup "v1" "Secret" $.Release.Namespace (printf "%s${suffixes.certificates}" (include "lumigo-operator.fullname" $)) -}}
{{- $before := index (default dict $there.data) "${certificateFiles.authority}" | default "" | b64dec -}}
{{- $newest := regexFind "(?s)-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----" $before -}}
{{- $made := dict "certificate" (b64enc $pair.Cert) "key" (b64enc $pair.Key) "checksum" (sha256sum $pair.Cert) -}}
{{- $_ := set $made "authority" (printf "%s%s" $authority.Cert $newest | b64enc) -}}
{{- $_ := set $.Values "madeCertificate" $made -}}
{{- end -}}
{{- toJson $.Values.madeCertificate -}}
{{- end -}}
`;
