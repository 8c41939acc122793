import type { ConditionReason } from '../api/conditions.ts';
import type { Condition, LumigoResource, LumigoSpec, LumigoStatus } from '../api/lumigo.ts';
import { getTracerVariables, whyRefused } from './tracer-settings.ts';
import type { NamespacePolicy, TracingSettings } from './types.ts';

/** Returns the effective `Lumigo`: the oldest that is not being deleted, otherwise the oldest, then by uid. */
export function effectiveLumigo(lumigoes: readonly LumigoResource[]): LumigoResource | undefined {
  const byAge = lumigoes.toSorted(
    (a, b) =>
      compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      compare(a.metadata.uid, b.metadata.uid),
  );
  return byAge.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? byAge[0];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const POD_MODE_OFF = 'This installation does not offer Pod mode (spec.tracing.injection.mode: Pod)';

/** Returns the policy of one namespace. `noPodMode` is the reason why the installation has no Pod mode. */
export function getPolicy(lumigoes: readonly LumigoResource[], noPodMode?: string): NamespacePolicy {
  const effective = effectiveLumigo(lumigoes);
  if (effective === undefined) return { kind: 'none' };
  const { metadata, spec = {} } = effective;
  const { enabled, remove, pods } = readSpec(spec);
  const ended = { lumigo: metadata.name, remove };
  if (metadata.deletionTimestamp !== undefined) return { kind: 'deleting', ...ended };
  if (!enabled) return { kind: 'disabled', ...ended };
  if (pods && noPodMode !== undefined)
    return inactive(effective, 'PodModeOff', `${POD_MODE_OFF}. ${noPodMode}, or use the mode Workload`);
  const refused = whyRefused(spec.tracing?.env);
  if (refused !== undefined) return inactive(effective, 'TracerSettingRefused', refused);
  return enabledPolicy(effective);
}

/** The installation may exclude a namespace that has injections. They are removed when its `Lumigo` is deleted. */
export const whenExcluded = (policy: NamespacePolicy): NamespacePolicy =>
  policy.kind === 'deleting' ? { ...policy, isExcluded: true } : { kind: 'excluded' };

const inactive = ({ metadata }: LumigoResource, reason: ConditionReason, message: string): NamespacePolicy => ({
  kind: 'inactive',
  lumigo: metadata.name,
  reason,
  message,
});

function enabledPolicy({ metadata, spec = {}, status }: LumigoResource): NamespacePolicy {
  const { name: lumigo, creationTimestamp: createdAt = '' } = metadata;
  const { remove, injectExisting, tracing, pods } = readSpec(spec);
  const { selector } = spec.tracing?.injection ?? {};
  // The schema requires both, but an older CRD may be installed.
  const isNamed = tracing.secretName !== '' && tracing.secretKey !== '';
  const problem = isNamed ? whyInactive(status) : 'SecretReferenceMissing';
  if (problem !== undefined) return { kind: 'inactive', lumigo, reason: problem };
  const active = { lumigo, tracing, ...(selector && { selector }) };
  return pods ? { kind: 'pods', ...active } : { kind: 'active', ...active, createdAt, injectExisting, remove };
}

function readSpec(spec: LumigoSpec) {
  const {
    enabled = true,
    mode,
    injectLumigoIntoExistingResourcesOnCreation: injectExisting = true,
    removeLumigoFromResourcesOnDeletion: remove = true,
  } = spec.tracing?.injection ?? {};
  return { enabled, remove, injectExisting, tracing: readTracing(spec), pods: mode === 'Pod' };
}

function readTracing({ lumigoToken, tracing, logging }: LumigoSpec): TracingSettings {
  const { name: secretName = '', key: secretKey = '' } = lumigoToken?.secretRef ?? {};
  const { enabled: traces = true, env } = tracing ?? {};
  const variables = env === undefined ? {} : { env: getTracerVariables(env) };
  return { secretName, secretKey, traces, logs: logging?.enabled ?? false, ...variables };
}

function whyInactive(status: LumigoStatus | undefined): string | undefined {
  const error: Partial<Condition> | undefined = status?.conditions?.find(isTrue('Error'));
  return holds(status, 'Active') ? undefined : (error?.reason ?? error?.message ?? 'NotReconciled');
}

const isTrue = (type: string) => (condition: Condition) => condition.type === type && condition.status === 'True';

export const holds = (status: LumigoStatus | undefined, type: Condition['type']): boolean =>
  status?.conditions?.some(isTrue(type)) === true;
