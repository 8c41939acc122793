import { injector } from '../../runtime/contract.ts';
import { injectorVolume } from '../../runtime/injection/init-container.ts';
import { all, any, sameExcept, sameItemsBut, text, type Cel } from '../constructs/cel.ts';
import { appMounts, eachPair, injectorShape, isOurVolume, sameContainers } from './container-rules.ts';
import { sameEnvironment } from './environment-rules.ts';
import type { Validation } from './policy.ts';
import { hasShape, type Shape } from './shape.ts';

const pair = (name: string): readonly [Cel, Cel] => [`variables.${name}`, `variables.${name}Before`];

const lists = [pair('containers'), pair('usersInitContainers')];
const [inits, initsBefore] = pair('initContainers');
const [volumes, volumesBefore] = pair('volumes');
const [secrets, secretsBefore] = pair('imagePullSecrets');

const getName = (secret: Cel): Cel => `${secret}.?name.orValue('')`;
const isAddedSecret = (secret: Cel): Cel =>
  `(${getName(secret)} in variables.pullSecrets || ${getName(secret)} in variables.originalStatePullSecretsBefore)`;

export const podValidations: readonly Validation[] = [
  {
    may: 'change containers, volumes and pull secrets of a pod template, and no other field of its spec',
    expression: all(
      sameExcept(...pair('template'), ['metadata', 'spec']),
      sameExcept(...pair('pod'), ['containers', 'initContainers', 'volumes', 'imagePullSecrets']),
    ),
  },
  {
    may: 'change only environment and mounts of a container',
    expression: all(...lists.flatMap((list) => sameContainers(...list))),
  },
  {
    may: 'change only the injected variables of a container',
    expression: all(...lists.map((list) => eachPair(...list, sameEnvironment))),
  },
  {
    may: 'change only its own mount of a container',
    expression: all(...lists.map((list) => eachPair(...list, appMounts))),
  },
  {
    may: "give its init container only the injector's image of the settings, and no command",
    expression: `${inits}.filter(container, container.name == ${text(injector.container)}).all(container, ${any(
      `container in ${initsBefore}`,
      hasShape('container', injectorShape()),
    )})`,
  },
  {
    may: 'change only its own volume',
    expression: all(
      sameItemsBut(volumes, volumesBefore, isOurVolume),
      `${volumes}.filter(volume, ${isOurVolume('volume')}).all(volume, ${any(
        `volume in ${volumesBefore}`,
        hasShape('volume', injectorVolume as unknown as Shape),
      )})`,
    ),
  },
  {
    may: 'change only the pull secrets of the settings',
    expression: all(
      sameItemsBut(secrets, secretsBefore, isAddedSecret),
      `${secrets}.all(secret, secret in ${secretsBefore} || ${getName('secret')} in variables.pullSecrets)`,
    ),
  },
];
