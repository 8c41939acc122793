{{- define "lumigo-operator.fullname" -}}
{{- include "lumigo-operator.refuse" $ -}}
{{- if or .Values.name .Values.fullnameOverride -}}
{{- .Values.name | default .Values.fullnameOverride -}}
{{- else if contains "lumigo-operator" .Release.Name -}}
{{- .Release.Name | trunc 28 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-lumigo-operator" .Release.Name | trunc 28 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- define "lumigo-operator.refuse" -}}
{{- $given := toJson $.Values | fromJson -}}
{{- if regexMatch "^v?[0-9]+$" (toString (dig "controllerManager" "manager" "image" "tag" "" $given)) -}}
{{- fail (printf "controllerManager.manager.image.tag is \"%v\", a release of the original operator, whose image does not run here; leave it out, or name an image of this operator" (dig "controllerManager" "manager" "image" "tag" "" $given)) -}}
{{- end -}}
{{- if regexMatch "^v?[0-9]+$" (toString (dig "controllerManager" "telemetryProxy" "image" "tag" "" $given)) -}}
{{- fail (printf "controllerManager.telemetryProxy.image.tag is \"%v\", a release of the original telemetry proxy, whose image does not run here; leave it out, or name an OpenTelemetry Collector" (dig "controllerManager" "telemetryProxy" "image" "tag" "" $given)) -}}
{{- end -}}
{{- if regexMatch "lumigo-kubernetes-telemetry-proxy$" (toString (dig "controllerManager" "telemetryProxy" "image" "repository" "" $given)) -}}
{{- fail (printf "controllerManager.telemetryProxy.image.repository is \"%v\", the original telemetry proxy, which does not run here; leave it out, or name an OpenTelemetry Collector" (dig "controllerManager" "telemetryProxy" "image" "repository" "" $given)) -}}
{{- end -}}
{{- end -}}
{{- define "lumigo-operator.certificate" -}}
{{- if not (hasKey $.Values "madeCertificate") -}}
{{- $host := printf "%s-webhooks-service.%s.svc" (include "lumigo-operator.fullname" $) $.Release.Namespace -}}
{{- $authority := genCA "lumigo-operator" 365 -}}
{{- $pair := genSignedCert $host nil (list $host) 365 $authority -}}
{{- $there := lookup "v1" "Secret" $.Release.Namespace (printf "%s-webhook-certificates" (include "lumigo-operator.fullname" $)) -}}
{{- $before := index (default dict $there.data) "ca.crt" | default "" | b64dec -}}
{{- $newest := regexFind "(?s)-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----" $before -}}
{{- $made := dict "certificate" (b64enc $pair.Cert) "key" (b64enc $pair.Key) "checksum" (sha256sum $pair.Cert) -}}
{{- $_ := set $made "authority" (printf "%s%s" $authority.Cert $newest | b64enc) -}}
{{- $_ := set $.Values "madeCertificate" $made -}}
{{- end -}}
{{- toJson $.Values.madeCertificate -}}
{{- end -}}
