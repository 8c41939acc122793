import { environment, injector, instrumentedPrefix, labels } from '../contract.ts';
import { covers, lastNamed } from './lists.ts';
import { readRecord } from './record.ts';
import type { Container, PodSpec, PodTemplate, TracingSettings } from './types.ts';

/**
 * Whether a pod template carries an injection of this operator, or of the original one, which left no record: of its
 * label, volume and init container two are enough, since people and other programs edit what was injected.
 */
export function isInjected(template: PodTemplate): boolean {
  if (readRecord(template) !== undefined) return true;
  const { initContainers = [], volumes = [] } = template.spec;
  const signs = [
    injectedLabel(template) !== undefined,
    volumes.some(({ name, emptyDir }) => name === injector.volume && emptyDir !== undefined),
    initContainers.some((container) => container.name === injector.container && copiesInjector(container)),
  ];
  return signs.filter(Boolean).length >= 2;
}

const copiesInjector = ({ env }: Container): boolean => lastNamed(env, injector.targetVariable) !== undefined;

/** The value of the pod template's label, if it is ours: it names the version that injected. */
export function injectedLabel(template: PodTemplate): string | undefined {
  const label = template.metadata?.labels?.[labels.autoTrace];
  return label?.startsWith(instrumentedPrefix) === true ? label : undefined;
}

/** The init container of an injection. */
export const injectorContainer = ({ initContainers }: PodSpec): Container | undefined =>
  initContainers?.find(({ name }) => name === injector.container);

/** The settings that an injection was written with, as far as the traced programs see them; undefined where they cannot be told. */
export function recordedTracing(template: PodTemplate): TracingSettings | undefined {
  const record = readRecord(template);
  if (record === undefined) return isInjected(template) ? originalTracing(template.spec) : undefined;
  const { secretName, secretKey, traces, logs } = record;
  return { secretName, secretKey, traces, logs };
}

/** The original operator left no record, but the same variables in all containers; its early versions had traces alone. */
function originalTracing({ containers }: PodSpec): TracingSettings | undefined {
  const env = containers.find((container) => lastNamed(container.env, environment.token) !== undefined)?.env;
  const token = lastNamed(env, environment.token)?.valueFrom;
  if (!covers(token, { secretKeyRef: {} })) return undefined;
  const { name, key } = (token as { secretKeyRef: { name?: string; key?: string } }).secretKeyRef;
  return {
    secretName: name ?? '',
    secretKey: key ?? '',
    traces: lastNamed(env, environment.enableTraces)?.value !== 'false',
    logs: lastNamed(env, environment.enableLogs)?.value === 'true',
  };
}
