import { certificateFiles, suffixes } from '../../runtime/contract.ts';
import type { DeliveredCertificate } from '../constructs/webhook-certificate.ts';
import type { Expression } from './markers.ts';

/** In days. The operator renews the certificate if no upgrade does. */
const VALID_DAYS = 365;

/** Helm creates a new certificate on each rendering. */
export const markedCertificate: DeliveredCertificate = {
  certificate: 'xhelmcertificatex',
  key: 'xhelmkeyx',
  authority: 'xhelmauthorityx',
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

/** Creates one certificate for all templates, which only share the values. The authority of the previous one stays trusted in the Secret. */
export const certificateHelper = `{{- define "lumigo-operator.certificate" -}}
{{- if not (hasKey $.Values "madeCertificate") -}}
{{- $host := printf "%s${suffixes.webhookService}.%s.svc" (include "lumigo-operator.fullname" $) $.Release.Namespace -}}
{{- $authority := genCA "lumigo-operator" ${VALID_DAYS} -}}
{{- $pair := genSignedCert $host nil (list $host) ${VALID_DAYS} $authority -}}
{{- $there := lookup "v1" "Secret" $.Release.Namespace (printf "%s${suffixes.certificates}" (include "lumigo-operator.fullname" $)) -}}
{{- $before := index (default dict $there.data) "${certificateFiles.authority}" | default "" | b64dec -}}
{{- $newest := regexFind "(?s)-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----" $before -}}
{{- $bundle := printf "%s%s" $authority.Cert $newest | b64enc -}}
{{- $made := dict "certificate" (b64enc $pair.Cert) "key" (b64enc $pair.Key) "authority" $bundle -}}
{{- $_ := set $.Values "madeCertificate" $made -}}
{{- end -}}
{{- toJson $.Values.madeCertificate -}}
{{- end -}}
`;
