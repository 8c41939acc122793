import { environment, injector } from '../contract.ts';
import { findVariable } from './variables.ts';
import type { PodSpec } from '../api/objects.ts';

/** Lists sources of `envFrom` that may have an LD_PRELOAD, which the injection overrides, in sentences. */
export const hiddenPreloads = ({ containers }: PodSpec): readonly string[] =>
  containers.flatMap(({ name, env, envFrom = [] }) => {
    // A value of the user's own in `env` stays in effect beside the injector's.
    if (findVariable(env, environment.preload)?.value !== injector.preload) return [];
    const sources = envFrom
      .filter(({ prefix = '' }) => environment.preload.startsWith(prefix))
      .map(({ configMapRef, secretRef }) =>
        configMapRef === undefined ? `Secret '${secretRef?.name}'` : `ConfigMap '${configMapRef.name}'`,
      );
    const problem = `an ${environment.preload} from ${sources.join(' or ')} has no effect in container '${name}', because the injector sets its own`;
    return sources.length === 0 ? [] : [problem];
  });
