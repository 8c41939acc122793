import { annotations, labels } from '../../../runtime/contract.ts';
import { injectorMount, injectorVolume } from '../../../runtime/injection/init-container.ts';
import { instrumentedPrefix } from '../../../runtime/injection/label.ts';
import { entryOr, text, type Cel } from '../cel.ts';
import { pointerStep } from '../../../runtime/injection/patch.ts';
import { json } from './json.ts';

/** Returns an operation of RFC 6902. Path and value are expressions. */
const operation = (op: 'add' | Cel, path: Cel, value: Cel): Cel =>
  `JSONPatch{op: ${op === 'add' ? text(op) : op}, path: ${path}, value: ${value}}`;

const provided = (exists: Cel, path: Cel, empty: '[]' | '{}'): Cel =>
  `(${exists} ? [] : [${operation('add', path, empty)}])`;

const added = (field: string, place: Cel, value: Cel): readonly Cel[] => [
  provided(`has(variables.pod.${field})`, text(`/spec/${field}`), '[]'),
  `[${operation('add', `${text(`/spec/${field}/`)} + ${place}`, value)}]`,
];

const keyPath = (map: string, key: string): Cel => text(`/metadata/${map}/${pointerStep(key)}`);

const COUNT = 'variables.containers.size()';
const at = (field: string): Cel =>
  `(index < ${COUNT} ? '/spec/containers/' + string(index) : '/spec/initContainers/' + string(index - ${COUNT})) + '/${field}'`;

/** An injected init container needs the injector's files, so the injector comes first. */
const placeOfInjector = `(variables.injected.exists(index, index >= ${COUNT}) ? '0' : '-')`;

const put = (field: string, place: Cel, value: Cel): Cel =>
  operation(`${place} < 0 ? 'add' : 'replace'`, `${at(field)} + (${place} < 0 ? '/-' : '/' + string(${place}))`, value);

const ofContainer: readonly Cel[] = [
  provided('has(variables.traceable[index].env)', at('env'), '[]'),
  `variables.environment[index].transformList(row, variable, ${put('env', 'variables.environmentPlaces[index][row]', 'variable')})`,
  `variables.settings.filter(setting, !(setting.name in variables.environmentNames[index])).map(setting, ${operation('add', `${at('env')} + '/-'`, 'setting')})`,
  provided('has(variables.traceable[index].volumeMounts)', at('volumeMounts'), '[]'),
  `[${put('volumeMounts', 'variables.ownMounts[index]', json(injectorMount))}]`,
];

const pullSecrets: readonly Cel[] = [
  provided(
    'has(variables.pod.imagePullSecrets) || variables.addedPullSecrets.size() == 0',
    text('/spec/imagePullSecrets'),
    '[]',
  ),
  `variables.addedPullSecrets.map(name, ${operation('add', text('/spec/imagePullSecrets/-'), `{'name': name}`)})`,
];

/** A user's value of the label is kept, because a selector may need it. */
const isOwnLabel = `${entryOr('variables.labels', labels.autoTrace, text(instrumentedPrefix))}.startsWith(${text(instrumentedPrefix)})`;

const metadata: readonly Cel[] = [
  provided('has(object.metadata.labels)', text('/metadata/labels'), '{}'),
  `(${isOwnLabel} ? [${operation('add', keyPath('labels', labels.autoTrace), 'variables.ownLabel')}] : [])`,
  provided('has(object.metadata.annotations)', text('/metadata/annotations'), '{}'),
  `[${operation('add', keyPath('annotations', annotations.injection), 'variables.record')}]`,
  `[${operation('add', keyPath('annotations', annotations.safeToEvict), 'variables.safeToEvict')}]`,
];

const sum = (lists: readonly Cel[], indent: string): Cel => lists.join(` +\n${indent}`);

export const patch: Cel = `!variables.isInjected ? [] :
  variables.injected.map(index,
    ${sum(ofContainer, '    ')}
  ).flatten() +
  ${sum([...added('initContainers', placeOfInjector, 'variables.initContainer'), ...added('volumes', text('-'), json(injectorVolume)), ...pullSecrets, ...metadata], '  ')}`;
