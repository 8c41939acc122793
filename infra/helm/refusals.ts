import { collectorImage } from '../settings/controller-manager.ts';
import { clusterAuthority, KUBELET_PORT, reservedLabels, sentences } from '../settings/contradictions.ts';
import { portNames } from '../settings/ports.ts';
import { given, quoted } from './go-template.ts';
import { originalRefusals } from './original.ts';

/** Ends the rendering with a sentence whose `%v` are these expressions. */
const fail = (sentence: string, ...values: readonly string[]): string =>
  `{{- fail (printf ${[sentence].map(quoted).concat(values).join(' ')}) -}}`;

const monitored = '(ternary (list) $given.monitoredNamespaces (kindIs "string" $given.monitoredNamespaces))';
const proxyImage = '$given.controllerManager.telemetryProxy.image';
const list = (texts: readonly string[]): string => `(list ${texts.map(quoted).join(' ')})`;

/**
 * The rules of settings/contradictions.ts in Go's template language, by the sentence that each says: a rule more does not compile
 * without its row here. Of the schema's own rules none is here; Helm has checked them when it renders.
 */
const rows: Readonly<Record<keyof typeof sentences, string>> = {
  monitoredTwice: [
    `{{- $names := list -}}{{- range $index, $each := ${monitored} -}}{{- if has $each.namespace $names -}}`,
    fail(sentences.monitoredTwice('%v', '%v'), '$index', '$each.namespace'),
    '{{- end -}}{{- if $each.namespace -}}{{- $names = append $names $each.namespace -}}{{- end -}}{{- end -}}',
  ].join(''),
  monitoredByWhat: [
    `{{- range $index, $each := ${monitored} -}}{{- if eq (hasKey $each "namespace") (hasKey $each "selector") -}}`,
    fail(sentences.monitoredByWhat('%v'), '$index'),
    '{{- end -}}{{- end -}}',
  ].join(''),
  monitoredOwn: [
    `{{- range $index, $each := ${monitored} -}}{{- if eq (toString $each.namespace) $.Release.Namespace -}}`,
    fail(sentences.monitoredOwn('%v', '%v'), '$index', '$each.namespace'),
    '{{- end -}}{{- end -}}',
  ].join(''),
  monitoredButExcluded: [
    `{{- range $index, $each := ${monitored} -}}{{- if has $each.namespace $given.webhook.excludedNamespaces -}}`,
    fail(sentences.monitoredButExcluded('%v', '%v'), '$index', '$each.namespace'),
    '{{- end -}}{{- end -}}',
  ].join(''),
  ownLabels: [
    `{{- range $key, $_ := $given.podLabels -}}{{- if has $key ${list(reservedLabels)} -}}`,
    fail(sentences.ownLabels('%v'), '$key'),
    '{{- end -}}{{- end -}}',
  ].join(''),
  sharedQueue: [
    '{{- if and (gt (int $given.controllerManager.replicas) 1) $given.controllerManager.telemetryProxy.queue.claimName -}}',
    fail(sentences.sharedQueue('%v'), '$given.controllerManager.replicas'),
    '{{- end -}}',
  ].join(''),
  otherTag: [
    `{{- if and (ne ${proxyImage}.tag ${quoted(collectorImage.tag)}) (eq ${proxyImage}.digest ${quoted(collectorImage.digest)}) -}}`,
    fail(sentences.otherTag('%v'), `${proxyImage}.tag`),
    '{{- end -}}',
  ].join(''),
  nobodyAsked: `{{- if and $given.webhook.clientCa.names (not $given.webhook.clientCa.configMap) -}}${fail(sentences.nobodyAsked())}{{- end -}}`,
  anyClient: [
    `{{- if and (eq $given.webhook.clientCa.configMap ${quoted(clusterAuthority)}) (not $given.webhook.clientCa.names) -}}`,
    fail(sentences.anyClient()),
    '{{- end -}}',
  ].join(''),
  takenPort: [
    `{{- $taken := dict -}}{{- range $name := ${list(portNames)} -}}{{- $port := toString (get $given.ports $name) -}}`,
    '{{- if hasKey $taken $port -}}',
    fail(sentences.takenPort('%v', '%v', '%v'), '$name', '$port', '(get $taken $port)'),
    '{{- end -}}{{- $_ := set $taken $port $name -}}{{- end -}}',
  ].join(''),
  kubeletPort: [
    `{{- range $name := ${list(portNames)} -}}{{- if and $given.hostNetwork (eq (int (get $given.ports $name)) ${KUBELET_PORT}) -}}`,
    fail(sentences.kubeletPort('%v', '%v'), '$name', '(get $given.ports $name)'),
    '{{- end -}}{{- end -}}',
  ].join(''),
  idleIssuer: `{{- if and (ne $given.certificates.issuer "cert-manager") $given.certificates.issuerRef -}}${fail(sentences.idleIssuer())}{{- end -}}`,
};

/** Ends the rendering where values cannot be together, or are of the original operator and cannot be. Every template includes it. */
export const refusals = [
  '{{- define "lumigo-operator.refuse" -}}',
  given,
  ...originalRefusals,
  ...Object.values(rows),
  '{{- end -}}',
  '',
].join('\n');
