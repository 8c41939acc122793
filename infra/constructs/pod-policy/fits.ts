import { annotations, injector } from '../../../runtime/contract.ts';
import { needs } from '../../../runtime/injection/eligibility.ts';
import { NEEDED_CPU, NEEDED_STORAGE } from '../../../runtime/injection/refusal.ts';
import { MAX_ANNOTATION_BYTES } from '../../../runtime/injection/validity.ts';
import { all, any, entryOr, fieldOr, text, texts, type Cel } from '../cel.ts';
import { storageVariables } from './resources.ts';
import type { Expressions } from '../admission.ts';

const isMet = ({ label, values }: (typeof needs)[number]): Cel => {
  const allows = any(
    `expression.key != ${text(label)}`,
    `(expression.operator == 'In' ? value in ${fieldOr('expression', 'values', '[]')} : expression.operator != 'NotIn' || !(value in ${fieldOr('expression', 'values', '[]')}))`,
  );
  return `${texts(values)}.exists(value, ${all(
    `${entryOr('variables.nodeSelector', label, 'value')} == value`,
    `${fieldOr('term', 'matchExpressions', '[]')}.all(expression, ${allows})`,
  )})`;
};

const ADDED_BYTES = Object.values([annotations.injection, annotations.safeToEvict, injector.volume, ',']).join(
  '',
).length;

const getBytes = (map: Cel): Cel => `${map}.map(key, bytes(key).size() + bytes(${map}[key]).size()).sum()`;

/** The variables that decide if a pod can be injected, by the rules of `otherNodes`, `reasonToRefuse` and `whyInvalid`. */
export const fitVariables: Expressions = {
  nodeSelector: fieldOr('variables.pod', 'nodeSelector', '{}'),
  nodeTerms: fieldOr(
    'variables.pod',
    'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms',
    '[{}]',
  ),
  runsOnOurNodes: all(
    `${fieldOr('variables.pod', 'os.name', "''")} != 'windows'`,
    `variables.nodeTerms.exists(term, ${all(...needs.map(isMet))})`,
  ),
  ...storageVariables,
  hasRoom: any('!variables.limitsStorage', `variables.storageLimits.max() >= double(${NEEDED_STORAGE})`),
  hasTime: any("variables.cpuLimit == ''", `quantity(variables.cpuLimit).asApproximateFloat() >= ${NEEDED_CPU}`),
  // Kubernetes refuses a pod with more bytes of annotations.
  hasRoomForRecord: `${getBytes('variables.annotations')} + bytes(variables.record).size() + ${ADDED_BYTES} <= ${MAX_ANNOTATION_BYTES}`,
  isInjected: all(
    '!variables.isNameTaken',
    'variables.injected.size() > 0',
    'variables.runsOnOurNodes',
    'variables.hasRoom',
    'variables.hasTime',
    'variables.hasRoomForRecord',
  ),
};
