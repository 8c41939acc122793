import { environment } from '../contract.ts';
import { lastNamed } from '../json/values.ts';
import type { PodSpec } from '../api/objects.ts';

/**
 * Where an LD_PRELOAD may come from that the injection would hide, in words: Kubernetes gives a variable of `env` precedence over all
 * of `envFrom`, whose content is in other objects. What an image sets is seen by nobody but the container runtime.
 */
export const hiddenPreloads = ({ containers }: PodSpec): readonly string[] =>
  containers.flatMap(({ name, env, envFrom = [] }) => {
    if (lastNamed(env, environment.preload) !== undefined) return [];
    const sources = envFrom
      .filter(({ prefix = '' }) => environment.preload.startsWith(prefix))
      .map(({ configMapRef, secretRef }) =>
        configMapRef === undefined ? `Secret '${secretRef?.name}'` : `ConfigMap '${configMapRef.name}'`,
      );
    if (sources.length === 0) return [];
    return [
      `an ${environment.preload} from ${sources.join(' or ')} has no effect in container '${name}', because the injector sets its own`,
    ];
  });
