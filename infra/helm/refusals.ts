import { collectorImage } from '../settings/controller-manager.ts';
import { KUBELET_PORT, needsKubernetes, reservedLabels, sentences } from '../settings/cross-field-rules.ts';
import { podModeKubernetes } from '../../runtime/contract.ts';
import { portNames } from '../settings/ports.ts';
import { secretRules } from '../settings/tree.ts';
import { withdrawnSetting, withdrawnSettings } from '../settings/withdrawn.ts';
import { each, fail, given, quoted, when } from './go-template.ts';
import { allExcluded } from './markers.ts';
import { originalRefusals, valueAt } from './original.ts';

const monitored = '(ternary (list) $given.monitoredNamespaces (kindIs "string" $given.monitoredNamespaces))';
const eachMonitored = (body: string): string => each(`$index, $each := ${monitored}`, body);
const proxyImage = '$given.controllerManager.telemetryProxy.image';
const list = (texts: readonly string[]): string => `(list ${texts.map(quoted).join(' ')})`;

/** The rules of settings/cross-field-rules.ts in Go's template language. Helm checks the rules of the schema itself. */
const rows: Readonly<Record<keyof typeof sentences, string>> = {
  monitoredTwice:
    '{{- $names := list -}}' +
    eachMonitored(
      when('has $each.namespace $names', fail(sentences.monitoredTwice('%v', '%v'), '$index', '$each.namespace')) +
        when('$each.namespace', '{{- $names = append $names $each.namespace -}}'),
    ),
  monitoredByWhat: eachMonitored(
    when('eq (hasKey $each "namespace") (hasKey $each "selector")', fail(sentences.monitoredByWhat('%v'), '$index')),
  ),
  monitoredOwn: eachMonitored(
    when(
      'eq (toString $each.namespace) $.Release.Namespace',
      fail(sentences.monitoredOwn('%v', '%v'), '$index', '$each.namespace'),
    ),
  ),
  monitoredButExcluded: eachMonitored(
    when(
      `has $each.namespace ${allExcluded('$given')}`,
      fail(sentences.monitoredButExcluded('%v', '%v'), '$index', '$each.namespace'),
    ),
  ),
  ownLabels: Object.entries(reservedLabels)
    .map(([path, keys]) =>
      each(`$key, $_ := $given.${path}`, when(`has $key ${list(keys)}`, fail(sentences.ownLabels(path, '%v'), '$key'))),
    )
    .join(''),
  sharedQueue: when(
    'and (gt (int $given.controllerManager.replicas) 1) $given.controllerManager.telemetryProxy.queue.claimName',
    fail(sentences.sharedQueue('%v'), '$given.controllerManager.replicas'),
  ),
  otherTag: when(
    `and (ne ${proxyImage}.tag ${quoted(collectorImage.tag)}) (eq ${proxyImage}.digest ${quoted(collectorImage.digest)})`,
    fail(sentences.otherTag('%v'), `${proxyImage}.tag`),
  ),
  takenPort:
    '{{- $taken := dict -}}' +
    each(
      `$name := ${list(portNames)}`,
      '{{- $port := toString (get $given.ports $name) -}}' +
        when(
          'hasKey $taken $port',
          fail(sentences.takenPort('%v', '%v', '%v'), '$name', '(get $taken $port)', '$port'),
        ) +
        '{{- $_ := set $taken $port $name -}}',
    ),
  kubeletPort: each(
    `$name := ${list(portNames)}`,
    when(
      `and $given.hostNetwork (eq (int (get $given.ports $name)) ${KUBELET_PORT})`,
      fail(sentences.kubeletPort('%v', '%v'), '$name', '(get $given.ports $name)'),
    ),
  ),
  idleIssuer: when(
    'and (ne $given.certificates.issuer "cert-manager") $given.certificates.issuerRef',
    fail(sentences.idleIssuer()),
  ),
};

const secretKeys = secretRules().map(({ key }) => key);

/** Helm would show the value of a secret setting if the schema had its rule. */
const secretRefusals: readonly string[] = [
  each(
    '$key, $_ := $given.lumigoToken',
    when(
      `not (has $key ${list(secretKeys)})`,
      fail(
        `lumigoToken has a key that is not a setting (not shown, because it may be a token). It has ${secretKeys.join(', ')}`,
      ),
    ),
  ),
  ...secretRules().map(({ key, pattern, message }) =>
    when(
      `not (regexMatch ${quoted(pattern)} (toString (default "" $given.lumigoToken.${key})))`,
      fail(`lumigoToken.${key} ${message}; its value is not shown`),
    ),
  ),
];

/** The schema accepts withdrawn settings, because its refusal would not say what to use instead. */
const withdrawnRefusals = Object.keys(withdrawnSettings).map((path) =>
  when(valueAt(path), fail(withdrawnSetting(path) ?? '')),
);

const podModeRefusal = when(
  `and $given.injection.podMode (semverCompare "<1.${podModeKubernetes}.0-0" $.Capabilities.KubeVersion.Version)`,
  fail(needsKubernetes('%v'), '$.Capabilities.KubeVersion.Version'),
);

/** Each template includes these refusals, which stop the rendering. */
export const refusals = [
  '{{- define "lumigo-operator.refuse" -}}',
  given,
  ...originalRefusals,
  ...withdrawnRefusals,
  ...secretRefusals,
  ...Object.values(rows),
  podModeRefusal,
  '{{- end -}}',
  '',
].join('\n');
