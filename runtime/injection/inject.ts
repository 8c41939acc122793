import { annotations, injector, labels } from '../contract.ts';
import { initContainer, injectorMount, injectorVolume } from './init-container.ts';
import { join } from './joined-list.ts';
import { labelValue } from './label.ts';
import { equal, lastNamed, upsert, withoutEmpty } from './lists.ts';
import { recordOf, writeRecord, type InjectionRecord, type Kept } from './record.ts';
import { normalPath, reasonToLeaveAlone, reasonToRefuse } from './refusal.ts';
import { remove } from './remove.ts';
import type { Container, EnvVar, InjectionSettings, Metadata, PodTemplate, PodSpec } from './types.ts';
import { currentFormat, variablesOf, writtenVariable } from './variables.ts';

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
 * A format other than the current one tells what an earlier version wrote (intact.ts).
 * Laws: remove(inject(t)) = t; inject(inject(t)) = inject(t); inject(inject(t, a), b) = inject(t, b).
 */
export function inject(template: PodTemplate, settings: InjectionSettings, format = currentFormat): Injection {
  const clean = remove(template);
  const refused = reasonToRefuse(clean.spec);
  if (refused !== undefined) return { refused };
  const { containers, kept, leftAlone } = injectContainers(clean.spec, settings, format);
  const { imagePullSecrets: own = [], initContainers = [], volumes = [] } = clean.spec;
  const pullSecrets = [...new Set(settings.imagePullSecrets)].filter(
    (name) => !own.some((secret) => secret.name === name),
  );
  const metadata = clean.metadata ?? {};
  const record = recordOf(settings, format, {
    pullSecrets,
    kept,
    label: metadata.labels?.[labels.autoTrace],
    safeToEvict: metadata.annotations?.[annotations.safeToEvict],
    leftAlone: leftAlone.map(({ container }) => container),
    emptyMetadata: isEmpty(clean.metadata) ? true : undefined,
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

const isEmpty = (metadata: Metadata | undefined): boolean =>
  metadata !== undefined && Object.keys(metadata).length === 0;

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

function injectContainers({ containers, volumes }: PodSpec, settings: InjectionSettings, format: number) {
  const kept: Record<string, Kept> = {};
  const leftAlone: LeftAlone[] = [];
  const injected = containers.map((container) => {
    const reason = reasonToLeaveAlone(container, volumes);
    if (reason !== undefined) {
      leftAlone.push({ container: container.name, reason });
      return container;
    }
    const result = injectContainer(container, settings, format);
    if (Object.keys(result.kept).length > 0) kept[container.name] = result.kept;
    return result.container;
  });
  return { containers: injected, kept, leftAlone };
}

function injectContainer(container: Container, settings: InjectionSettings, format: number) {
  const keptEnv: EnvVar[] = [];
  let { env = [] } = container;
  for (const row of variablesOf(format)) {
    const own = lastNamed(env, row.name);
    const variable = writtenVariable(row, settings, container.name, own);
    if (own !== undefined) keptEnv.push(equal(own, variable) ? variable : own);
    env = upsert(env, variable, (other) => other.name === variable.name);
  }
  const isThere = ({ mountPath }: { mountPath: string }) => normalPath(mountPath) === injector.mountPath;
  const mount = container.volumeMounts?.find(isThere);
  const kept: Kept = { ...(keptEnv.length > 0 ? { env: keptEnv } : {}), ...(mount === undefined ? {} : { mount }) };
  return {
    container: { ...container, env, volumeMounts: upsert(container.volumeMounts, injectorMount, isThere) },
    kept,
  };
}
