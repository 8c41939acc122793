import { originalWarning } from './original.ts';
import { isUpdaterOff } from './switches.ts';
import { suspended } from '../settings/updater-state.ts';

export const notes = `The Lumigo operator {{ .Chart.AppVersion }} is installed in the namespace '{{ .Release.Namespace }}'.

Next, create a Secret and a Lumigo resource in each namespace that you want to trace:

kubectl create secret generic lumigo-credentials --from-literal token=YOUR_LUMIGO_TOKEN -n NAMESPACE
kubectl apply -n NAMESPACE -f - <<MANIFEST
apiVersion: operator.lumigo.io/v1alpha1
kind: Lumigo
metadata:
  name: lumigo
spec:
  lumigoToken:
    secretRef:
      name: lumigo-credentials
      key: token
MANIFEST

Then check that it works:

  kubectl get lumigo -A
  helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }}

{{- if and (not .Values.imagePrefix) (hasPrefix "localhost/" .Values.controllerManager.manager.image.repository) }}
! {{ printf "%s:%s" .Values.controllerManager.manager.image.repository .Values.controllerManager.manager.image.tag }} is not published. Build it (docker build or buildah build) and load it into the nodes, or push it to a registry and set controllerManager.manager.image.
{{- end }}
{{- with .Values.updater }}
{{- if ${isUpdaterOff} }}
{{- else if not .repository }}
! ${suspended.noRepository}
{{- else if and (eq .mode "upgrade") (not .verify.keyringSecret) (eq .verify.unsigned "refuse") }}
! ${suspended.noKeyring}
{{- end }}
{{- end }}
${originalWarning}
{{- if .Release.IsUpgrade }}
{{- $agent := printf "%s-cluster-agent" (include "lumigo-operator.fullname" .) }}
{{- if and (not .Values.clusterCollection.metrics.enabled) (lookup "apps/v1" "DaemonSet" .Release.Namespace $agent) }}
! The original operator sends metrics of the infrastructure, and this release does not. To keep them, set clusterCollection.metrics.enabled.
{{- end }}
{{- if .Capabilities.APIVersions.Has "operator.lumigo.io/v1alpha1/Lumigo" }}
{{- range (lookup "operator.lumigo.io/v1alpha1" "Lumigo" "" "").items }}
{{- $lumigo := . }}
{{- range (dig "status" "conditions" list .) }}
{{- if and (eq .type "Ready") (eq .status "False") }}
! {{ $lumigo.metadata.namespace }}/{{ $lumigo.metadata.name }}: {{ .message }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
`;
