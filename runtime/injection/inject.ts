import { annotations, environment, injector, instrumentedPrefix, labels } from '../contract.ts';
import { injectorMount, tracerVariables } from './environment.ts';
import { initContainer, injectorVolume } from './init-container.ts';
import { join } from './joined-list.ts';
import { equal, lastNamed, upsert, withoutEmpty } from './lists.ts';
import { recordOf, writeRecord, type InjectionRecord, type Kept } from './record.ts';
import { reasonToLeaveAlone, reasonToRefuse } from './refusal.ts';
import { remove } from './remove.ts';
import type { Container, EnvVar, InjectionSettings, PodTemplate } from './types.ts';

export interface LeftAlone {
  readonly container: string;
  /** A sentence that names the container. */
  readonly reason: string;
}

export type Injection =
  | { readonly template: PodTemplate; readonly leftAlone: readonly LeftAlone[]; readonly refused?: undefined }
  | { readonly refused: string };

/**
 * Adds the injector to a pod template, or says why it cannot be added. What an earlier injection wrote is taken out
 * first, so that injecting again is the same as injecting for the first time.
 * Laws: remove(inject(t)) = t; inject(inject(t)) = inject(t); inject(inject(t, a), b) = inject(t, b).
 */
export function inject(template: PodTemplate, settings: InjectionSettings): Injection {
  const clean = remove(template);
  const refused = reasonToRefuse(clean.spec);
  if (refused !== undefined) return { refused };
  const leftAlone = clean.spec.containers.flatMap((container) => {
    const reason = reasonToLeaveAlone(container);
    return reason === undefined ? [] : [{ container: container.name, reason }];
  });
  const untouched = new Set(leftAlone.map(({ container }) => container));
  const kept: Record<string, Kept> = {};
  const containers = clean.spec.containers.map((container) => {
    if (untouched.has(container.name)) return container;
    const injected = injectContainer(container, settings);
    if (Object.keys(injected.kept).length > 0) kept[container.name] = injected.kept;
    return injected.container;
  });
  const { imagePullSecrets: own = [] } = clean.spec;
  const pullSecrets = settings.imagePullSecrets.filter((name) => !own.some((secret) => secret.name === name));
  const label = clean.metadata?.labels?.[labels.autoTrace];
  const safeToEvict = clean.metadata?.annotations?.[annotations.safeToEvict];
  const record = recordOf(settings, {
    ...(pullSecrets.length > 0 ? { pullSecrets } : {}),
    ...(Object.keys(kept).length > 0 ? { kept } : {}),
    ...(label === undefined ? {} : { label }),
    ...(safeToEvict === undefined ? {} : { safeToEvict }),
    ...(leftAlone.length > 0 ? { leftAlone: [...untouched] } : {}),
  });
  const spec = {
    ...clean.spec,
    containers,
    initContainers: [...(clean.spec.initContainers ?? []), initContainer(settings, clean.spec)],
    volumes: [...(clean.spec.volumes ?? []), injectorVolume],
    imagePullSecrets: [...own, ...pullSecrets.map((name) => ({ name }))],
  };
  const injected = {
    ...clean,
    metadata: metadataOf(clean, settings, record),
    spec: withoutEmpty(spec, ['imagePullSecrets']),
  };
  return { template: injected, leftAlone };
}

function metadataOf(clean: PodTemplate, settings: InjectionSettings, record: InjectionRecord) {
  const safe = clean.metadata?.annotations?.[annotations.safeToEvict];
  return {
    ...clean.metadata,
    labels: { ...clean.metadata?.labels, [labels.autoTrace]: labelValue(settings.version) },
    annotations: {
      ...clean.metadata?.annotations,
      [annotations.injection]: writeRecord(record),
      [annotations.safeToEvict]: join(safe, injector.volume, ','),
    },
  };
}

/** `lumigo-operator.v1.2.3`; what a label cannot hold is replaced, and 63 characters are the most. */
export function labelValue(version: string): string {
  const valid = `${instrumentedPrefix}${version.replace(/[^A-Za-z0-9._-]/g, '-')}`;
  return valid.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
}

function injectContainer(container: Container, settings: InjectionSettings): { container: Container; kept: Kept } {
  const keptEnv: EnvVar[] = [];
  let { env = [] } = container;
  for (const variable of [preloadFor(container), ...tracerVariables(settings, container.name)]) {
    const own = lastNamed(env, variable.name);
    if (own !== undefined && !equal(own, variable)) keptEnv.push(own);
    else if (own !== undefined) keptEnv.push(variable);
    env = upsert(env, variable, (other) => other.name === variable.name);
  }
  const isThere = ({ mountPath }: { mountPath: string }) =>
    mountPath === injector.mountPath || mountPath === `${injector.mountPath}/`;
  const mount = container.volumeMounts?.find(isThere);
  return {
    container: { ...container, env, volumeMounts: upsert(container.volumeMounts, injectorMount, isThere) },
    kept: { ...(keptEnv.length > 0 ? { env: keptEnv } : {}), ...(mount === undefined ? {} : { mount }) },
  };
}

const preloadFor = ({ env }: Container): EnvVar => ({
  name: environment.preload,
  value: join(lastNamed(env, environment.preload)?.value, injector.preload, ':'),
});
