import { environment, injector } from '../contract.ts';
import type { PodSpec } from '../api/objects.ts';

/** Lists sources of `envFrom` that may have an LD_PRELOAD, which the injection overrides, in sentences. */
export const hiddenPreloads = ({ containers }: PodSpec): readonly string[] =>
  containers.flatMap(({ name, env, envFrom = [] }) => {
    // A value of the user's own in `env` stays in effect beside the injector's.
    if (env?.findLast((each) => each.name === environment.preload)?.value !== injector.preload) return [];
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
