import { annotations, injector } from '../../../runtime/contract.ts';
import { needs } from '../../../runtime/injection/eligibility.ts';
import { NEEDED_CPU, NEEDED_STORAGE } from '../../../runtime/injection/refusal.ts';
import { MOST_ANNOTATION_BYTES } from '../../../runtime/injection/validity.ts';
import { all, any, entryOr, fieldOr, text, texts, type Cel } from '../cel.ts';
import { storageLimits } from './resources.ts';
import type { Variables } from './variables.ts';

/** Returns true if a term of the node affinity, with the node selector, allows a node that the injector has a build for. */
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

/** Every key and comma that the injection adds to the annotations. */
const ADDED_BYTES = Object.values([annotations.injection, annotations.safeToEvict, injector.volume, ',']).join(
  '',
).length;

const bytesOf = (map: Cel): Cel => `${map}.map(key, bytes(key).size() + bytes(${map}[key]).size()).sum()`;

/** The variables that say if a pod as a whole can be injected. `otherNodes`, `reasonToRefuse` and `whyInvalid` have the same rules. */
export const fitVariables: Variables = {
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
  storageLimits,
  hasRoom: any('variables.storageLimits.size() == 0', `variables.storageLimits.sum() >= double(${NEEDED_STORAGE})`),
  hasTime: any("variables.cpuLimit == ''", `quantity(variables.cpuLimit).asApproximateFloat() >= ${NEEDED_CPU}`),
  // Kubernetes refuses a pod with more.
  hasRoomForRecord: `${bytesOf('variables.annotations')} + bytes(variables.record).size() + ${ADDED_BYTES} <= ${MOST_ANNOTATION_BYTES}`,
  isInjected: all(
    '!variables.isNameTaken',
    'variables.injected.size() > 0',
    'variables.runsOnOurNodes',
    'variables.hasRoom',
    'variables.hasTime',
    'variables.hasRoomForRecord',
  ),
};
