{{- define "lumigo-operator.fullname" -}}
{{- include "lumigo-operator.refuse" $ -}}
{{- if or .Values.name .Values.fullnameOverride -}}
{{- .Values.name | default .Values.fullnameOverride -}}
{{- else -}}
{{- $name := .Release.Name | replace "." "-" -}}
{{- if regexMatch "^[0-9]" $name -}}
{{- fail (printf "the name of the release is \"%s\", but names of Services begin with a letter. Set name, or rename the release" .Release.Name) -}}
{{- end -}}
{{- ternary $name (printf "%s-lumigo-operator" $name) (contains "lumigo-operator" $name) | trunc 28 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- define "lumigo-operator.refuse" -}}
{{- $given := toJson $.Values | fromJson -}}
{{- if regexMatch "^v?[0-9]+$" (toString (dig "controllerManager" "manager" "image" "tag" "" $given)) -}}{{- fail (printf "controllerManager.manager.image.tag is \"%v\", a release of the original operator, whose image is not compatible. Remove it, or set a tag of this operator" (dig "controllerManager" "manager" "image" "tag" "" $given)) -}}{{- end -}}
{{- if regexMatch "^v?[0-9]+$" (toString (dig "controllerManager" "telemetryProxy" "image" "tag" "" $given)) -}}{{- fail (printf "controllerManager.telemetryProxy.image.tag is \"%v\", a release of the original telemetry proxy, whose image is not compatible. Remove it, or set a tag of the OpenTelemetry Collector" (dig "controllerManager" "telemetryProxy" "image" "tag" "" $given)) -}}{{- end -}}
{{- if regexMatch "lumigo-kubernetes-telemetry-proxy$" (toString (dig "controllerManager" "telemetryProxy" "image" "repository" "" $given)) -}}{{- fail (printf "controllerManager.telemetryProxy.image.repository is \"%v\", the original telemetry proxy, which is not compatible. Remove it, or set an image of the OpenTelemetry Collector" (dig "controllerManager" "telemetryProxy" "image" "repository" "" $given)) -}}{{- end -}}
{{- if (dig "webhook" "clientCa" "" $given) -}}{{- fail (printf "webhook.clientCa is not a setting; use networkPolicy.webhook.from to limit the clients of the webhook") -}}{{- end -}}
{{- range $key, $_ := $given.lumigoToken -}}{{- if not (has $key (list "secretName" "secretKey" "value")) -}}{{- fail (printf "lumigoToken has a key that is not a setting (not shown, because it may be a token). It has secretName, secretKey, value") -}}{{- end -}}{{- end -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" (toString (default "" $given.lumigoToken.secretName))) -}}{{- fail (printf "lumigoToken.secretName must consist of lower-case letters, digits, - and . (starting and ending with a letter or digit); its value is not shown") -}}{{- end -}}
{{- if not (regexMatch "^[-._a-zA-Z0-9]{1,253}$" (toString (default "" $given.lumigoToken.secretKey))) -}}{{- fail (printf "lumigoToken.secretKey must consist of letters, digits, -, _ and ., as keys of Secrets do; its value is not shown") -}}{{- end -}}
{{- if not (regexMatch "^(t_[0-9a-fA-F]{21})?$" (toString (default "" $given.lumigoToken.value))) -}}{{- fail (printf "lumigoToken.value must be a Lumigo token (\"t_\" and 21 hexadecimal characters), or empty; its value is not shown") -}}{{- end -}}
{{- $names := list -}}{{- range $index, $each := (ternary (list) $given.monitoredNamespaces (kindIs "string" $given.monitoredNamespaces)) -}}{{- if has $each.namespace $names -}}{{- fail (printf "monitoredNamespaces[%v].namespace repeats \"%v\". A namespace has one Lumigo, so remove one of the two entries" $index $each.namespace) -}}{{- end -}}{{- if $each.namespace -}}{{- $names = append $names $each.namespace -}}{{- end -}}{{- end -}}
{{- range $index, $each := (ternary (list) $given.monitoredNamespaces (kindIs "string" $given.monitoredNamespaces)) -}}{{- if eq (hasKey $each "namespace") (hasKey $each "selector") -}}{{- fail (printf "monitoredNamespaces[%v] must have either a namespace or a selector" $index) -}}{{- end -}}{{- end -}}
{{- range $index, $each := (ternary (list) $given.monitoredNamespaces (kindIs "string" $given.monitoredNamespaces)) -}}{{- if eq (toString $each.namespace) $.Release.Namespace -}}{{- fail (printf "monitoredNamespaces[%v].namespace is \"%v\", the operator's own namespace, which is never instrumented. Remove the entry" $index $each.namespace) -}}{{- end -}}{{- end -}}
{{- range $index, $each := (ternary (list) $given.monitoredNamespaces (kindIs "string" $given.monitoredNamespaces)) -}}{{- if has $each.namespace $given.webhook.excludedNamespaces -}}{{- fail (printf "monitoredNamespaces[%v].namespace is \"%v\", which webhook.excludedNamespaces excludes. Remove it from one of the two" $index $each.namespace) -}}{{- end -}}{{- end -}}
{{- range $key, $_ := $given.podLabels -}}{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/version" "lumigo.auto-trace" "control-plane") -}}{{- fail (printf "podLabels sets %v, which the operator sets itself. Remove it" $key) -}}{{- end -}}{{- end -}}{{- range $key, $_ := $given.metrics.serviceMonitor.labels -}}{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/version") -}}{{- fail (printf "metrics.serviceMonitor.labels sets %v, which the operator sets itself. Remove it" $key) -}}{{- end -}}{{- end -}}{{- range $key, $_ := $given.metrics.prometheusRule.labels -}}{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/version") -}}{{- fail (printf "metrics.prometheusRule.labels sets %v, which the operator sets itself. Remove it" $key) -}}{{- end -}}{{- end -}}{{- range $key, $_ := $given.metrics.silentWorkloadsRule.labels -}}{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/version") -}}{{- fail (printf "metrics.silentWorkloadsRule.labels sets %v, which the operator sets itself. Remove it" $key) -}}{{- end -}}{{- end -}}{{- range $key, $_ := $given.metrics.dashboard.labels -}}{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/version") -}}{{- fail (printf "metrics.dashboard.labels sets %v, which the operator sets itself. Remove it" $key) -}}{{- end -}}{{- end -}}
{{- if and (gt (int $given.controllerManager.replicas) 1) $given.controllerManager.telemetryProxy.queue.claimName -}}{{- fail (printf "controllerManager.telemetryProxy.queue.claimName needs controllerManager.replicas to be 1, but it is %v. Pods cannot share a queue" $given.controllerManager.replicas) -}}{{- end -}}
{{- if and (ne $given.controllerManager.telemetryProxy.image.tag "0.152.0") (eq $given.controllerManager.telemetryProxy.image.digest "sha256:f41d7995565df3733b7568702073a9c490792f9c6ac60684fe6a4da21a313f8d") -}}{{- fail (printf "controllerManager.telemetryProxy.image.tag is \"%v\", but the digest is still that of 0.152.0. Set controllerManager.telemetryProxy.image.digest to the digest of the new tag, or to \"\"" $given.controllerManager.telemetryProxy.image.tag) -}}{{- end -}}
{{- $taken := dict -}}{{- range $name := (list "webhook" "otlpHttp" "otlpGrpc" "metrics" "telemetryMetrics" "health" "telemetryHealth" "telemetryLoop" "telemetryCounts" "nodeData") -}}{{- $port := toString (get $given.ports $name) -}}{{- if hasKey $taken $port -}}{{- fail (printf "ports.%v and ports.%v are both %v. Use different ports" $name (get $taken $port) $port) -}}{{- end -}}{{- $_ := set $taken $port $name -}}{{- end -}}
{{- range $name := (list "webhook" "otlpHttp" "otlpGrpc" "metrics" "telemetryMetrics" "health" "telemetryHealth" "telemetryLoop" "telemetryCounts" "nodeData") -}}{{- if and $given.hostNetwork (eq (int (get $given.ports $name)) 10250) -}}{{- fail (printf "ports.%v is %v, which the kubelet uses on every node. Choose another port, because hostNetwork is true" $name (get $given.ports $name)) -}}{{- end -}}{{- end -}}
{{- if and (ne $given.certificates.issuer "cert-manager") $given.certificates.issuerRef -}}{{- fail (printf "certificates.issuerRef is set, but certificates.issuer is not \"cert-manager\", so it has no effect. Set both, or neither") -}}{{- end -}}
{{- if and $given.injection.podMode (semverCompare "<1.36.0-0" $.Capabilities.KubeVersion.Version) -}}{{- fail (printf "injection.podMode is true, but Pod mode needs Kubernetes 1.36 or newer, and the cluster has %v. Set it to false, or upgrade the cluster" $.Capabilities.KubeVersion.Version) -}}{{- end -}}
{{- end -}}
{{- define "lumigo-operator.certificate" -}}
{{- if not (hasKey $.Values "madeCertificate") -}}
{{- $host := printf "%s-webhooks-service.%s.svc" (include "lumigo-operator.fullname" $) $.Release.Namespace -}}
{{- $authority := genCA "lumigo-operator" 365 -}}
{{- $pair := genSignedCert $host nil (list $host) 365 $authority -}}
{{- $there := lookup "v1" "Secret" $.Release.Namespace (printf "%s-webhook-certificates" (include "lumigo-operator.fullname" $)) -}}
{{- $before := index (default dict $there.data) "ca.crt" | default "" | b64dec -}}
{{- $newest := regexFind "(?s)-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----" $before -}}
{{- $bundle := printf "%s%s" $authority.Cert $newest | b64enc -}}
{{- $made := dict "certificate" (b64enc $pair.Cert) "key" (b64enc $pair.Key) "authority" $bundle -}}
{{- $_ := set $.Values "madeCertificate" $made -}}
{{- end -}}
{{- toJson $.Values.madeCertificate -}}
{{- end -}}
