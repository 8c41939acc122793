import { environment, injector } from '../../../runtime/contract.ts';
import { currentFormat, getVariables } from '../../../runtime/injection/variables.ts';
import {
  agentAnnotations,
  agentLabels,
  agentPaths,
  agentVolumes,
  loaders,
} from '../../../runtime/injection/other-tracers.ts';
import { readOnlySources } from '../../../runtime/injection/refusal.ts';
import { all, any, fieldOr, text, texts, type Cel } from '../cel.ts';
import { isOnOurPath, getMounts, slashes } from '../injected.ts';
import type { Expressions } from '../admission.ts';

const INSIDE_OUR_PATH = `^${slashes(injector.mountPath)}/+[^/]`;

const parents = injector.mountPath
  .split('/')
  .map((_step, index, steps) => steps.slice(0, index).join('/'))
  .filter((path) => path !== '');
const ABOVE_OUR_PATH = `^(${parents.map(slashes).join('|')})/*$`;

const isAt = (path: string): Cel => `mount.mountPath.matches(${text(path)})`;

/** Init containers are injected only by name, as by `getNamedInits`. */
const isChosen = all(
  '!(container.name in variables.excluded)',
  any(
    'container.name in variables.included',
    'variables.included.size() == 0 && index < variables.containers.size() && !(container.name in variables.sidecars)',
  ),
);

const rows = getVariables(currentFormat);

/** Returns the place of the last variable of a name, which is the effective one, or -1. */
const getPlace = (name: string): Cel => `names.lastIndexOf(${text(name)})`;

const preload: Cel = 'container.env[variables.preloadPlaces[index]]';
const hasPreload: Cel = 'variables.preloadPlaces[index] >= 0';

/** The rules are those of `reasonsToLeaveAlone`, but for volume claims, which a pod has as volumes. */
const isPossible = all(
  `!(${hasPreload} && has(${preload}.valueFrom))`,
  `!${getMounts('container')}.exists(mount, ${isAt(INSIDE_OUR_PATH)})`,
  `${getMounts('container')}.filter(mount, ${isOnOurPath('mount')}).size() <= 1`,
  `!${getMounts('container')}.exists(mount, ${all(
    isAt(ABOVE_OUR_PATH),
    `(${fieldOr('mount', 'readOnly', 'false')} || mount.name in variables.readOnlyVolumes)`,
  )})`,
);

const tracesPod = (map: string, marks: readonly { readonly mark: string }[]): Cel =>
  `${texts(marks.map(({ mark }) => mark))}.exists(key, !(variables.${map}[?key].orValue('').lowerAscii() in ['', 'false']))`;
const isPodTraced = any(tracesPod('annotations', agentAnnotations), tracesPod('labels', agentLabels));

/** The rules are those of `whyTraced`. */
const isOnlyTracer = any(
  "variables.otherTracers == 'Inject'",
  'container.name in variables.included',
  all(
    '!variables.isPodTraced',
    `!${fieldOr('container', 'env', '[]')}.exists(variable, ${all(
      `variable.name in ${texts(loaders)}`,
      `${texts(agentPaths.map(({ mark }) => mark))}.exists(path, ${fieldOr('variable', 'value', "''")}.contains(path))`,
    )})`,
    `!${getMounts('container')}.exists(mount, ${texts(agentVolumes.map(({ mark }) => mark))}.exists(name, mount.name.startsWith(name)))`,
  ),
);

export const containerVariables: Expressions = {
  traceable: 'variables.containers + variables.initContainers',
  environmentNames: `variables.traceable.map(container, ${fieldOr('container', 'env', '[]')}.map(variable, variable.name))`,
  environmentPlaces: `variables.environmentNames.map(names, [${rows.map(({ name }) => getPlace(name)).join(', ')}])`,
  preloadPlaces: `variables.environmentNames.map(names, ${getPlace(environment.preload)})`,
  preloads: `variables.traceable.transformList(index, container, ${hasPreload} ? ${fieldOr(preload, 'value', "''")} : '')`,
  ownMounts: `variables.traceable.map(container, ${getMounts('container')}.map(mount, ${isOnOurPath('mount')}).lastIndexOf(true))`,
  readOnlyVolumes: `variables.volumes.filter(volume, volume.exists(source, source != 'name' && ${`(source in ${texts(
    readOnlySources,
  )} || ${fieldOr('volume[source]', 'readOnly', 'false')})`})).map(volume, volume.name)`,
  isPodTraced,
  injected: `variables.traceable.transformList(index, container, ${all(isChosen, isOnlyTracer, isPossible)}, index)`,
  skipped: 'variables.containers.transformList(index, container, !(index in variables.injected), container.name)',
};
