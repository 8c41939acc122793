import { environment, injector, instrumentedPrefix, labels } from '../contract.ts';
import { inject, labelValue } from './inject.ts';
import { covers, equal, lastNamed } from './lists.ts';
import { readRecord } from './record.ts';
import { isInjected } from './remove.ts';
import type { InjectionSettings, PodTemplate, TracingSettings } from './types.ts';

/** What was written into a pod template, as far as it decides what the programs do; undefined without a record. */
export function recordedTracing(template: PodTemplate): TracingSettings | undefined {
  const record = readRecord(template);
  if (record === undefined) return undefined;
  const { secretName, secretKey, traces, logs } = record;
  return { secretName, secretKey, traces, logs };
}

/** The value of the pod template's label, if it is ours. */
export function injectedLabel(template: PodTemplate): string | undefined {
  const label = template.metadata?.labels?.[labels.autoTrace];
  return label?.startsWith(instrumentedPrefix) === true ? label : undefined;
}

/**
 * Whether an injection is there and whole: everything that would be written with the settings it was written with is
 * there. What others have added to it since, and what the API server fills in, does not count against it.
 */
export function isIntact(template: PodTemplate, current: InjectionSettings): boolean {
  const record = readRecord(template);
  const label = injectedLabel(template);
  if (!isInjected(template) || record === undefined || label === undefined) return false;
  const own = template.spec.initContainers?.find(({ name }) => name === injector.container);
  if (own === undefined) return false;
  const { secretName, secretKey, traces, logs, endpoint } = record;
  const image = typeof own['image'] === 'string' ? own['image'] : current.image;
  const again = inject(template, {
    ...current,
    ...{ secretName, secretKey, traces, logs, endpoint, image },
    version: label.slice(instrumentedPrefix.length),
    imagePullSecrets: record.pullSecrets ?? [],
  });
  if (again.refused !== undefined) return false;
  return hasAll(template, again.template);
}

function hasAll(there: PodTemplate, wanted: PodTemplate): boolean {
  const ours = <T extends { name: string }>(list: readonly T[] = []) =>
    list.find(({ name }) => name === injector.container);
  // Its resources and user follow the pod as it was when it was injected; a pod that changed since is no damage.
  const {
    resources: _resources,
    securityContext: _context,
    imagePullPolicy: _policy,
    ...init
  } = ours(wanted.spec.initContainers) ?? { name: '' };
  return (
    covers(ours(there.spec.initContainers), init) &&
    covers(there.spec.volumes, wanted.spec.volumes?.filter(({ name }) => name === injector.volume) ?? []) &&
    wanted.spec.containers.every((container, index) => {
      const actual = there.spec.containers[index];
      const names = [environment.preload, environment.token, environment.endpoint];
      return (
        covers(
          actual?.volumeMounts ?? [],
          container.volumeMounts?.filter(({ name }) => name === injector.volume) ?? [],
        ) && names.every((name) => equal(lastNamed(actual?.env, name), lastNamed(container.env, name)))
      );
    })
  );
}

/** Whether an injection was written by this version with these settings; what a renewal would change otherwise. */
export function isCurrent(template: PodTemplate, settings: InjectionSettings): boolean {
  const record = readRecord(template);
  const own = template.spec.initContainers?.find(({ name }) => name === injector.container);
  return (
    injectedLabel(template) === labelValue(settings.version) &&
    own?.['image'] === settings.image &&
    record?.endpoint === settings.endpoint
  );
}
