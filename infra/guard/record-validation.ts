import { any, all, text, type Cel } from '../constructs/cel.ts';
import { isOnOurPath, getMounts } from '../constructs/injected.ts';
import { getEnvironment, isInjected, joinedVariables, writtenReferences } from './environment-rules.ts';
import type { Validation } from './policy.ts';
import { isMount, isVariable } from './record-rules.ts';

const inContainersBefore = (condition: Cel): Cel =>
  `(variables.containersBefore + variables.usersInitContainersBefore).exists(before, ${condition})`;

/** The removal of a joined variable takes no value from the record, unless the record lists it as one of a later version. */
const isJoined = joinedVariables.map(({ name }) =>
  all(`json.startsWith(${text(`{"name":"${name}","value":`)})`, `!(${text(name)} in variables.originalStateVariables)`),
);

const replaced: Cel = `variables.replaced.all(json, ${any(
  ...isJoined,
  'json in variables.replacedBefore',
  ...writtenReferences.map((pattern) => `json.matches(${text(pattern)})`),
  inContainersBefore(
    `${getEnvironment('before')}.exists(variable, ${isInjected('variable')} && ${isVariable('json', 'variable')})`,
  ),
)})`;

const replacedMounts: Cel = `variables.replacedMounts.all(json, ${any(
  'json in variables.replacedMountsBefore',
  inContainersBefore(`${getMounts('before')}.exists(mount, ${isOnOurPath('mount')} && ${isMount('json', 'mount')})`),
)})`;

const names = (list: string, allowed: Cel): Cel =>
  `variables.${list}.all(name, name in variables.${list}Before || name in ${allowed})`;

/** A removal restores the content of the record, so a new record may only contain parts of the object. */
export const recordValidation: Validation = {
  may: 'record only values that an injection replaces',
  expression: any(
    'variables.record == variables.recordBefore',
    all(
      'variables.hasOwnForm',
      replaced,
      replacedMounts,
      names('originalStateVariables', 'variables.injectedNames'),
      names('originalStatePullSecrets', 'variables.pullSecrets'),
    ),
  ),
};
