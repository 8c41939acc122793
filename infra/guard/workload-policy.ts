import { annotations, injector, suffixes, workloads } from '../../runtime/contract.ts';
import { workloadRules, type Expressions } from '../constructs/admission.ts';
import { entryOr, fieldOr, listOf, text, texts, type Cel } from '../constructs/cel.ts';
import { injectionVariables } from '../constructs/injected.ts';
import { telemetryProxyUrl } from '../constructs/runtime-environment.ts';
import type { Settings } from '../settings/schema.ts';
import { injectedNames, otherEntries } from './environment-rules.ts';
import { metadataValidations } from './metadata-validations.ts';
import { podValidations } from './pod-validations.ts';
import type { Policy } from './policy.ts';
import { MOUNT, originalStateNames, RECORD, VARIABLE } from './record-rules.ts';
import { recordValidation } from './record-validation.ts';

/** Returns the pod template of an object. Its place depends on the kind, and the types differ, so the object is dynamic. */
function toTemplate(object: Cel): Cel {
  const usual = ['spec', 'template'];
  return workloads
    .filter(({ template }) => template.join() !== usual.join())
    .reduceRight(
      (rest, { kind, template }) => `request.kind.kind == ${text(kind)} ? ${object}.${template.join('.')} : ${rest}`,
      fieldOr(object, usual.join('.'), '{}'),
    );
}

const parts = (object: Cel, suffix: string): Expressions => {
  const at = (name: string): Cel => `variables.${name}${suffix}`;
  const variables: Expressions = {
    object: `dyn(${object})`,
    labels: fieldOr(at('object'), 'metadata.labels', '{}'),
    annotations: fieldOr(at('object'), 'metadata.annotations', '{}'),
    template: toTemplate(at('object')),
    templateMetadata: fieldOr(at('template'), 'metadata', '{}'),
    templateLabels: fieldOr(at('templateMetadata'), 'labels', '{}'),
    templateAnnotations: fieldOr(at('templateMetadata'), 'annotations', '{}'),
    pod: fieldOr(at('template'), 'spec', '{}'),
    containers: fieldOr(at('pod'), 'containers', '[]'),
    initContainers: fieldOr(at('pod'), 'initContainers', '[]'),
    volumes: fieldOr(at('pod'), 'volumes', '[]'),
    imagePullSecrets: fieldOr(at('pod'), 'imagePullSecrets', '[]'),
    safeToEvict: otherEntries(entryOr(at('templateAnnotations'), annotations.safeToEvict), injector.volume),
    usersInitContainers: `${at('initContainers')}.filter(container, container.name != ${text(injector.container)})`,
    record: entryOr(at('templateAnnotations'), annotations.injection),
    replaced: `${at('record')}.findAll(${text(VARIABLE)})`,
    replacedMounts: `${at('record')}.findAll(${text(MOUNT)})`,
    originalStateVariables: originalStateNames(at('record'), 'variables'),
    originalStatePullSecrets: originalStateNames(at('record'), 'pullSecrets'),
  };
  return Object.fromEntries(Object.entries(variables).map(([name, expression]) => [`${name}${suffix}`, expression]));
};

export const excludedNamespaces = ({ webhook, namespace }: Settings): Cel =>
  `${listOf(webhook.excludedNamespaces)} + [${text(namespace)}]`;

export const workloadPolicy = (settings: Settings): Policy => ({
  suffix: suffixes.guardWorkloads,
  rules: workloadRules(['UPDATE']),
  variables: {
    ...injectionVariables(settings, listOf),
    endpoint: text(telemetryProxyUrl(settings)),
    excludedNamespaces: excludedNamespaces(settings),
    isOwnDeployment: `[request.resource.resource, request.namespace, request.name] == ${texts(['deployments', settings.namespace, `${settings.name}${suffixes.manager}`])}`,
    ...parts('object', ''),
    ...parts('oldObject', 'Before'),
    injectedNames,
    hasOwnForm: `variables.record.matches(${text(RECORD)})`,
  },
  validations: [...metadataValidations, ...podValidations, recordValidation],
});
