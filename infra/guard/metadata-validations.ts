import { annotations, labels, probeLabel, workloads } from '../../runtime/contract.ts';
import { all, any, fieldOr, sameBut, sameExcept, text, texts, type Cel } from '../constructs/cel.ts';
import { isOurKey } from './metadata-rules.ts';
import type { Validation } from './policy.ts';

/** Kubernetes changes this annotation of a DaemonSet with each new pod template. */
const DAEMON_SET_GENERATION = 'deprecated.daemonset.template.generation';
/** The manager replaces its own pods by this annotation after it restored its account. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

function around(): readonly Cel[] {
  const same = (path: readonly string[], keys: readonly string[]) => {
    const suffix = path.map((step) => `.${step}`).join('');
    return sameExcept(`variables.object${suffix}`, `variables.objectBefore${suffix}`, keys);
  };
  const inSpec = [...new Set(workloads.flatMap(({ template }) => template.slice(1, 2)))];
  const deeper = workloads.flatMap(({ kind, template }) =>
    template
      .slice(2)
      .map((key, index) => any(`request.kind.kind != ${text(kind)}`, same(template.slice(0, index + 2), [key]))),
  );
  return [same([], ['metadata', 'spec']), same(['spec'], inSpec), ...deeper];
}

const sameMap = (name: string, excepted: (key: Cel) => Cel): Cel =>
  sameBut(`variables.${name}`, `variables.${name}Before`, excepted);

const isSame = (name: string): Cel => `variables.${name} == variables.${name}Before`;

const sameList = (path: string): Cel =>
  `${fieldOr('variables.object', path, '[]')} == ${fieldOr('variables.objectBefore', path, '[]')}`;

const isOwnLabel = (key: Cel): Cel => `${key} in ${texts([labels.autoTrace, labels.rollout, probeLabel])}`;
/** Other accounts may instrument an excluded namespace, or it was not excluded before. */
const hasInjection = (suffix: '' | 'Before'): Cel =>
  `(variables.record${suffix} != '' || variables.initContainers${suffix} != variables.usersInitContainers${suffix})`;
const isRestart = (key: Cel): Cel => `variables.isOwnDeployment && ${key} == ${text(RESTARTED_AT)}`;

export const metadataValidations: readonly Validation[] = [
  { may: 'change the pod template of a workload, and no other field of its spec', expression: all(...around()) },
  {
    may: "change only its own labels and annotations of a workload's metadata",
    expression: all(
      sameMap('labels', isOwnLabel),
      sameMap('annotations', (key) => `${isOurKey(key)} || ${key} == ${text(DAEMON_SET_GENERATION)}`),
      sameList('metadata.finalizers'),
      sameList('metadata.ownerReferences'),
    ),
  },
  {
    may: 'change only its own labels and annotations of a pod template',
    expression: all(
      sameExcept('variables.templateMetadata', 'variables.templateMetadataBefore', ['labels', 'annotations']),
      sameMap('templateLabels', (key) => `${key} == ${text(labels.autoTrace)}`),
      sameMap(
        'templateAnnotations',
        (key) => `${isOurKey(key)} || ${key} == ${text(annotations.safeToEvict)} || ${isRestart(key)}`,
      ),
      isSame('safeToEvict'),
    ),
  },
  {
    may: 'change no pod template of an excluded namespace, except to remove an injection, and to replace its own pods',
    expression: any(
      '!(request.namespace in variables.excludedNamespaces)',
      all(isSame('pod'), isSame('templateLabels'), sameMap('templateAnnotations', isRestart)),
      all(hasInjection('Before'), `!${hasInjection('')}`),
    ),
  },
];
