import { annotations, injector, workloads } from '../../runtime/contract.ts';
import { fieldOr, text, type Cel } from './cel.ts';
import { recordedNames, replacedMounts, replacedVariables } from './record-rules.ts';

/** The place of the pod template in an object, by kind. The types of the kinds differ, so the object is dynamic. */
function templateOf(object: Cel): Cel {
  const usual = ['spec', 'template'];
  return workloads
    .filter(({ template }) => template.join() !== usual.join())
    .reduceRight(
      (rest, { kind, template }) => `request.kind.kind == ${text(kind)} ? ${object}.${template.join('.')} : ${rest}`,
      fieldOr(object, usual.join('.'), '{}'),
    );
}

const recordOf = (template: Cel): Cel =>
  `${template}.?metadata.?annotations[?${text(annotations.injection)}].orValue('')`;

/** The parts of an object of which the validations speak. */
const parts = (object: Cel, suffix: string): Readonly<Record<string, Cel>> => {
  const at = (name: string): Cel => `variables.${name}${suffix}`;
  const variables: Readonly<Record<string, Cel>> = {
    object: `dyn(${object})`,
    template: templateOf(at('object')),
    pod: fieldOr(at('template'), 'spec', '{}'),
    containers: fieldOr(at('pod'), 'containers', '[]'),
    initContainers: fieldOr(at('pod'), 'initContainers', '[]'),
    usersInitContainers: `${at('initContainers')}.filter(container, container.name != ${text(injector.container)})`,
    record: recordOf(at('template')),
    replaced: replacedVariables(at('record')),
    replacedMounts: replacedMounts(at('record')),
    recordedVariables: recordedNames(at('record'), 'variables'),
    recordedPullSecrets: recordedNames(at('record'), 'pullSecrets'),
  };
  return Object.fromEntries(Object.entries(variables).map(([name, expression]) => [`${name}${suffix}`, expression]));
};

/** The CEL variables of a change of a workload: its parts after and before. */
export const workloadVariables: Readonly<Record<string, Cel>> = {
  ...parts('object', ''),
  ...parts('oldObject', 'Before'),
};
