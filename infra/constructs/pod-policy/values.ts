import { annotations, injector } from '../../../runtime/contract.ts';
import {
  currentFormat,
  getVariables,
  type InjectedVariable,
  type InjectedSettings,
} from '../../../runtime/injection/variables.ts';
import { entryOr, fieldOr, text, type Cel } from '../cel.ts';
import { plainInitContainer } from '../injected.ts';
import { Expression, json, Maybe } from './json.ts';
import { initResources } from './resources.ts';
import type { Expressions } from '../admission.ts';

const placeholders: Readonly<Record<string, Cel>> = {
  '{endpoint}': 'variables.endpoint',
  '{secretName}': 'variables.secretName',
  '{secretKey}': 'variables.secretKey',
  '{traces}': 'variables.traces',
  '{logs}': 'variables.logs',
  '{container}': 'container.name',
};

const recorded = Object.fromEntries(
  ['endpoint', 'secretName', 'secretKey', 'traces', 'logs'].map((name) => [name, `{${name}}`]),
) as unknown as InjectedSettings;

const filled = (value: string): Cel =>
  value
    .split(/(\{\w+\})/)
    .filter((part) => part !== '')
    .map((part) => placeholders[part] ?? text(part))
    .join(' + ');

/** The separators of a joined list are those of `joined-list.ts`. */
const BORDER = String.raw`[:,\s\v\pZ\x{feff}]`;

const joined = (own: Cel, entry: string, separator: string): Cel => {
  const there = `(^|${BORDER})${entry.replaceAll('.', String.raw`\.`)}($|${BORDER})`;
  return `(${own} == '' ? ${text(entry)} : ${own}.matches(${text(there)}) ? ${own} : ${own} + ${text(separator + entry)})`;
};

const environmentVariable = (row: InjectedVariable): Cel =>
  'joined' in row
    ? json({ name: row.name, value: new Expression(joined('variables.preloads[index]', row.joined, ':')) })
    : json({ name: row.name, ...row.write(recorded, '{container}') }, filled);

/** On OpenShift, the security context sets no user, except in a pod that does so itself, or a container of it. */
function initContainerValue(): Cel {
  const { securityContext, ...fixed } = plainInitContainer();
  return json({
    ...fixed,
    image: new Expression('variables.image'),
    imagePullPolicy: new Expression('variables.imagePullPolicy'),
    resources: initResources,
    securityContext: {
      ...securityContext,
      runAsUser: new Maybe('variables.initUsers.size() > 0', 'variables.initUsers[0]'),
      seccompProfile: new Maybe(
        '!variables.isOpenShift || variables.pinsSeccomp',
        json(securityContext?.seccompProfile),
      ),
    },
  });
}

/** As in `getTracerVariables`. */
const settings: Cel = `${fieldOr('params', 'spec.tracing.env', '[]')}.map(setting, ${json({
  name: new Expression('setting.name'),
  value: new Maybe('has(setting.value)', 'setting.value'),
  valueFrom: new Maybe(
    'has(setting.valueFrom)',
    `setting.valueFrom.transformMap(source, reference, ${json({
      name: new Expression('reference.name'),
      key: new Expression('reference.key'),
      optional: true,
    })})`,
  ),
})})`;

const podUser = (field: string): Cel => fieldOr('variables.pod', `securityContext.${field}`, '-1');
const safeToEvict = entryOr('variables.annotations', annotations.safeToEvict);

/** The values that the injection writes. The record is short, because the operator never removes an injection from a pod. */
export const valueVariables: Expressions = {
  environment: `variables.traceable.transformList(index, container, [\n  ${getVariables(currentFormat)
    .map(environmentVariable)
    .join(',\n')
    .replaceAll('\n', '\n  ')}\n])`,
  settings,
  podUsers: `[${podUser('runAsUser')}, ${podUser('fsGroup')}, dyn(${injector.fallbackUser})]`,
  containerUsers: `variables.containers.map(container, ${fieldOr('container', 'securityContext.runAsUser', '0')})`,
  initUsers: `(variables.isOpenShift && variables.podUsers[0] != 0 ? variables.containerUsers : variables.podUsers).filter(user, user > 0)`,
  pinsSeccomp:
    'variables.containers.exists(container, has(container.securityContext) && has(container.securityContext.seccompProfile))',
  initContainer: initContainerValue(),
  addedPullSecrets: `variables.pullSecrets.filter(name, !${fieldOr('variables.pod', 'imagePullSecrets', '[]')}.exists(own, ${fieldOr('own', 'name', "''")} == name))`,
  safeToEvict: joined(safeToEvict, injector.volume, ','),
  record: [
    `'{"endpoint":' + strings.quote(variables.endpoint)`,
    `',"secretName":' + strings.quote(variables.secretName)`,
    `',"secretKey":' + strings.quote(variables.secretKey)`,
    `',"traces":' + variables.traces`,
    `',"logs":' + variables.logs`,
    `(variables.skipped.size() == 0 ? '' : ',"skipped":["' + variables.skipped.join('","') + '"]')`,
    `'}'`,
  ].join(' +\n'),
};
