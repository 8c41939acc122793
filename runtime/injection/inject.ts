import { annotations, environment, injector, instrumentedPrefix, labels } from '../contract.ts';
import { injectorMount, tracerVariables } from './environment.ts';
import { initContainer, injectorVolume } from './init-container.ts';
import { join } from './joined-list.ts';
import { equal, lastNamed, upsert, withoutEmpty } from './lists.ts';
import { recordOf, writeRecord, type InjectionRecord, type Kept } from './record.ts';
import { normalPath, reasonToLeaveAlone, reasonToRefuse } from './refusal.ts';
import { remove } from './remove.ts';
import type { Container, EnvVar, InjectionSettings, Metadata, PodTemplate, PodSpec } from './types.ts';

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
  const { containers, kept, leftAlone } = injectContainers(clean.spec, settings);
  const { imagePullSecrets: own = [], initContainers = [], volumes = [] } = clean.spec;
  const pullSecrets = [...new Set(settings.imagePullSecrets)].filter(
    (name) => !own.some((secret) => secret.name === name),
  );
  const metadata = clean.metadata ?? {};
  const record = recordOf(settings, {
    pullSecrets,
    kept,
    label: metadata.labels?.[labels.autoTrace],
    safeToEvict: metadata.annotations?.[annotations.safeToEvict],
    leftAlone: leftAlone.map(({ container }) => container),
    emptyMetadata: clean.metadata !== undefined && Object.keys(clean.metadata).length === 0 ? true : undefined,
  });
  const spec = {
    ...clean.spec,
    containers,
    initContainers: [...initContainers, initContainer(settings, clean.spec)],
    volumes: [...volumes, injectorVolume],
    imagePullSecrets: [...own, ...pullSecrets.map((name) => ({ name }))],
  };
  const injected = {
    ...clean,
    metadata: markedMetadata(metadata, labelValue(settings.version), record),
    spec: withoutEmpty(spec, ['imagePullSecrets']),
  };
  return { template: injected, leftAlone };
}

function markedMetadata(metadata: Metadata, label: string, record: InjectionRecord): Metadata {
  const { labels: ownLabels, annotations: ownAnnotations = {} } = metadata;
  return {
    ...metadata,
    labels: { ...ownLabels, [labels.autoTrace]: label },
    annotations: {
      ...ownAnnotations,
      [annotations.injection]: writeRecord(record),
      [annotations.safeToEvict]: join(ownAnnotations[annotations.safeToEvict], injector.volume, ','),
    },
  };
}

function injectContainers({ containers, volumes }: PodSpec, settings: InjectionSettings) {
  const kept: Record<string, Kept> = {};
  const leftAlone: LeftAlone[] = [];
  const injected = containers.map((container) => {
    const reason = reasonToLeaveAlone(container, volumes);
    if (reason !== undefined) {
      leftAlone.push({ container: container.name, reason });
      return container;
    }
    const result = injectContainer(container, settings);
    if (Object.keys(result.kept).length > 0) kept[container.name] = result.kept;
    return result.container;
  });
  return { containers: injected, kept, leftAlone };
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
  const isThere = ({ mountPath }: { mountPath: string }) => normalPath(mountPath) === injector.mountPath;
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
