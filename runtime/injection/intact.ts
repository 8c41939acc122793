import { annotations, environment, injector, instrumentedPrefix, labels } from '../contract.ts';
import { tracerVariableNames } from './environment.ts';
import { inject, labelValue } from './inject.ts';
import { includes } from './joined-list.ts';
import { covers, equal, lastNamed } from './lists.ts';
import { readRecord } from './record.ts';
import { isInjected } from './remove.ts';
import type { Container, InjectionSettings, PodTemplate, TracingSettings } from './types.ts';

/**
 * What an injection makes the programs do: from its record, or, where the original operator made it and left none, from
 * the variables that it wrote. Undefined where there is no injection.
 */
export function recordedTracing(template: PodTemplate): TracingSettings | undefined {
  const record = readRecord(template);
  if (record === undefined) return isInjected(template) ? tracingOf(template.spec.containers) : undefined;
  const { secretName, secretKey, traces, logs } = record;
  return { secretName, secretKey, traces, logs };
}

function tracingOf(containers: readonly Container[]): TracingSettings | undefined {
  for (const { env } of containers) {
    const source = lastNamed(env, environment.token)?.valueFrom as
      { secretKeyRef?: { name?: string; key?: string } } | undefined;
    const { name: secretName, key: secretKey } = source?.secretKeyRef ?? {};
    if (secretName === undefined || secretKey === undefined) continue;
    const value = (name: string) => lastNamed(env, name)?.value;
    return {
      secretName,
      secretKey,
      traces: value(environment.enableTraces) !== 'false',
      logs: value(environment.enableLogs) === 'true',
    };
  }
  return undefined;
}

/** The value of the pod template's label, if it is ours. */
export function injectedLabel(template: PodTemplate): string | undefined {
  const label = template.metadata?.labels?.[labels.autoTrace];
  return label?.startsWith(instrumentedPrefix) === true ? label : undefined;
}

/**
 * Whether an injection is there and whole: everything that would be written with the settings it was written with is
 * there. What others have added to it since, and what the API server fills in, does not count against it. One of the
 * original operator, of which nothing is known, is taken for whole.
 */
export function isIntact(template: PodTemplate, current: InjectionSettings): boolean {
  const record = readRecord(template);
  const label = injectedLabel(template);
  if (!isInjected(template) || label === undefined) return false;
  if (record === undefined) return true;
  const own = ownContainer(template);
  if (own === undefined) return false;
  const { secretName, secretKey, traces, logs, endpoint } = record;
  const image = typeof own['image'] === 'string' ? own['image'] : current.image;
  const again = inject(template, {
    ...current,
    ...{ secretName, secretKey, traces, logs, endpoint, image },
    version: label.slice(instrumentedPrefix.length),
    imagePullSecrets: record.pullSecrets ?? [],
  });
  return again.refused === undefined && hasAll(template, again.template);
}

const ownContainer = ({ spec }: PodTemplate): Container | undefined =>
  spec.initContainers?.find(({ name }) => name === injector.container);

function hasAll(there: PodTemplate, wanted: PodTemplate): boolean {
  // Its resources and user follow the pod as it was when it was injected; a pod that changed since is no damage.
  const {
    resources: _resources,
    securityContext: _context,
    imagePullPolicy: _policy,
    ...init
  } = ownContainer(wanted) ?? { name: '' };
  const ours = ({ name }: { name: string }) => name === injector.volume;
  return (
    covers(ownContainer(there), init) &&
    covers(there.spec.volumes, wanted.spec.volumes?.filter(ours) ?? []) &&
    includes(there.metadata?.annotations?.[annotations.safeToEvict], injector.volume) &&
    wanted.spec.containers.every((container, index) => isWhole(there.spec.containers[index], container))
  );
}

/** Whether a container has the mount and the variables that it is to have. */
function isWhole(actual: Container | undefined, wanted: Container): boolean {
  const mounts = wanted.volumeMounts?.filter(({ name }) => name === injector.volume) ?? [];
  if (mounts.length === 0) return true;
  return (
    covers(actual?.volumeMounts ?? [], mounts) &&
    includes(lastNamed(actual?.env, environment.preload)?.value, injector.preload) &&
    [...tracerVariableNames].every((name) => equal(lastNamed(actual?.env, name), lastNamed(wanted.env, name)))
  );
}

/** Whether an injection was written by this version with these settings; what a renewal would change otherwise. */
export function isCurrent(template: PodTemplate, settings: InjectionSettings): boolean {
  const record = readRecord(template);
  const own = ownContainer(template);
  return (
    injectedLabel(template) === labelValue(settings.version) &&
    own?.['image'] === settings.image &&
    record?.endpoint === settings.endpoint
  );
}
