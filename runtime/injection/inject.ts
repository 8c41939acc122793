import { annotations, environment, instrumentedPrefix, labels } from '../contract.ts';
import { tracerVariables } from './environment.ts';
import { initContainer, injectorVolume } from './init-container.ts';
import { join, preloads, safeVolumes } from './joined-list.ts';
import { lastNamed, upsert, withoutEmpty } from './lists.ts';
import { injectorMount, isAtInjector } from './mounts.ts';
import { recordOf, writeRecord, type InjectionRecord, type Kept } from './record.ts';
import { reasonToLeaveAlone, reasonToRefuse } from './refusal.ts';
import { remove } from './remove.ts';
import type { Container, EnvVar, InjectionSettings, Metadata, PodSpec, PodTemplate } from './types.ts';

export interface LeftAlone {
  readonly container: string;
  /** A sentence that names the container. */
  readonly reason: string;
}

export type Injection =
  | { readonly template: PodTemplate; readonly leftAlone: readonly LeftAlone[]; readonly refused?: undefined }
  /** A sentence that says why nothing of the pod can be injected into. */
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
  const pullSecrets = [...new Set(settings.imagePullSecrets)].filter((name) => own.every((one) => one.name !== name));
  const metadata = clean.metadata ?? {};
  const record = recordOf(settings, {
    pullSecrets,
    kept,
    label: metadata.labels?.[labels.autoTrace],
    safeToEvict: metadata.annotations?.[annotations.safeToEvict],
    leftAlone: leftAlone.map(({ container }) => container),
    bare: clean.metadata === undefined ? true : undefined,
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

/** `lumigo-operator.v1.2.3`; what a label cannot hold is replaced, and 63 characters are the most. */
export function labelValue(version: string): string {
  const valid = `${instrumentedPrefix}${version.replace(/[^A-Za-z0-9._-]/g, '-')}`;
  return valid.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
}

function markedMetadata(metadata: Metadata, label: string, record: InjectionRecord): Metadata {
  const { labels: ownLabels, annotations: ownAnnotations = {} } = metadata;
  return {
    ...metadata,
    labels: { ...ownLabels, [labels.autoTrace]: label },
    annotations: {
      ...ownAnnotations,
      [annotations.injection]: writeRecord(record),
      [annotations.safeToEvict]: join(ownAnnotations[annotations.safeToEvict], safeVolumes),
    },
  };
}

function injectContainers(spec: PodSpec, settings: InjectionSettings) {
  const kept: Record<string, Kept> = {};
  const leftAlone: LeftAlone[] = [];
  const containers = spec.containers.map((container) => {
    const reason = reasonToLeaveAlone(container, spec);
    if (reason !== undefined) {
      leftAlone.push({ container: container.name, reason });
      return container;
    }
    const own = keptOf(container);
    if (Object.keys(own).length > 0) kept[container.name] = own;
    return injectContainer(container, settings);
  });
  return { containers, kept, leftAlone };
}

/** What of the user's gives way: variables and a mount whose place ours take. */
function keptOf({ env, volumeMounts }: Container): Kept {
  const variables = sharedNames.map((name) => lastNamed(env, name)).filter((own) => own !== undefined);
  const mount = volumeMounts?.find(isAtInjector);
  return { ...(variables.length > 0 ? { env: variables } : {}), ...(mount === undefined ? {} : { mount }) };
}

const sharedNames = Object.values(environment);

function injectContainer(container: Container, settings: InjectionSettings): Container {
  const variables = [preloadFor(container), ...tracerVariables(settings, container.name)];
  const env = variables.reduce<readonly EnvVar[] | undefined>(
    (list, variable) => upsert(list, variable, ({ name }) => name === variable.name),
    container.env,
  );
  const volumeMounts = upsert(container.volumeMounts, injectorMount, isAtInjector);
  return { ...container, ...(env === undefined ? {} : { env }), volumeMounts };
}

const preloadFor = ({ env }: Container): EnvVar => ({
  name: environment.preload,
  value: join(lastNamed(env, environment.preload)?.value, preloads),
});
