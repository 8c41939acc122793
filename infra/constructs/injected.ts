import { injector } from '../../runtime/contract.ts';
import { initContainer } from '../../runtime/injection/init-container.ts';
import type { InjectorSettings } from '../../runtime/injection/types.ts';
import type { Settings } from '../settings/schema.ts';
import { fieldOr, text, type Cel } from './cel.ts';
import { imageReference } from './image.ts';

/** The parts of an injection that the guard and the policy for pods both describe in CEL. */

/** Returns a pattern of a path in which several slashes stand for one, as in the container runtime. */
export const slashes = (path: string): string => path.replaceAll('/', '/+');

const OUR_PATH = `^${slashes(injector.mountPath)}/*$`;

export const getMounts = (container: Cel): Cel => fieldOr(container, 'volumeMounts', '[]');
export const isOnOurPath = (mount: Cel): Cel => `${mount}.mountPath.matches(${text(OUR_PATH)})`;

export const plainInitContainer = (platform: InjectorSettings['platform'] = 'kubernetes') =>
  initContainer(
    {
      version: '',
      image: '',
      imagePullPolicy: 'IfNotPresent',
      imagePullSecrets: [],
      endpoint: '',
      platform,
    },
    { containers: [] },
  );

/** @param list returns the CEL of a list of texts */
export const injectionVariables = (settings: Settings, list: (values: readonly string[]) => Cel) => ({
  image: text(imageReference(settings.injectorWebhook.lumigoInjector.image, settings.imagePrefix)),
  imagePullPolicy: text(settings.injection.imagePullPolicy),
  pullSecrets: list(settings.injection.imagePullSecrets),
});
