import type { Condition, LumigoResource, LumigoSpec, LumigoStatus, Problem } from '../api/lumigo.ts';
import { getTracerVariables, whyRefused } from './tracer-settings.ts';
import type { NamespacePolicy, TracingSettings } from './types.ts';

/** Returns the effective `Lumigo`: the oldest that is not being deleted, otherwise the oldest, then by uid. */
export function effectiveLumigo(lumigoes: readonly LumigoResource[]): LumigoResource | undefined {
  const byAge = lumigoes.toSorted((a, b) => getRank(a).localeCompare(getRank(b)));
  return byAge.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? byAge[0];
}

/** All times have the same length, so the order of these texts is that of the times. */
const getRank = ({ metadata: { creationTimestamp = '', uid } }: LumigoResource): string =>
  `${creationTimestamp} ${uid}`;

const POD_MODE_OFF = 'This installation does not offer Pod mode (spec.tracing.injection.mode: Pod)';

/** Returns the policy of one namespace. `noPodMode` is the reason why the installation has no Pod mode. */
export function getPolicy(lumigoes: readonly LumigoResource[], noPodMode?: string): NamespacePolicy {
  const effective = effectiveLumigo(lumigoes);
  if (effective === undefined) return { kind: 'none' };
  const { metadata, spec = {} } = effective;
  const { name: lumigo, creationTimestamp: createdAt = '' } = metadata;
  const { enabled, remove, injectExisting, selector, pods, tracing } = readSpec(spec);
  if (metadata.deletionTimestamp !== undefined) return { kind: 'deleting', lumigo, remove };
  if (!enabled) return { kind: 'disabled', lumigo, remove };
  const problem = findProblem(effective, noPodMode);
  if (problem !== undefined) return { kind: 'inactive', lumigo, ...problem };
  const active = { lumigo, tracing, ...(selector && { selector }) };
  return pods ? { kind: 'pods', ...active } : { kind: 'active', ...active, createdAt, injectExisting, remove };
}

function findProblem(
  { spec = {}, status }: LumigoResource,
  noPodMode: string | undefined,
): Problem | { readonly reason: string } | undefined {
  const { pods, tracing } = readSpec(spec);
  if (pods && noPodMode !== undefined)
    return { reason: 'PodModeOff', message: `${POD_MODE_OFF}. ${noPodMode}, or use the mode Workload` };
  const refused = whyRefused(spec.tracing?.env);
  if (refused !== undefined) return { reason: 'TracerSettingRefused', message: refused };
  // The schema requires both, but an older CRD may be installed.
  if (tracing.secretName === '' || tracing.secretKey === '') return { reason: 'SecretReferenceMissing' };
  return holds(status, 'Active') ? undefined : { reason: whyInactive(status) };
}

function whyInactive(status: LumigoStatus | undefined): string {
  const error: Partial<Condition> | undefined = status?.conditions?.find(isTrue('Error'));
  return error?.reason ?? error?.message ?? 'NotReconciled';
}

/** The installation may exclude a namespace that has injections. They are removed when its `Lumigo` is deleted. */
export const whenExcluded = (policy: NamespacePolicy): NamespacePolicy =>
  policy.kind === 'deleting' ? { ...policy, isExcluded: true } : { kind: 'excluded' };

function readSpec(spec: LumigoSpec) {
  const {
    enabled = true,
    mode,
    selector,
    injectLumigoIntoExistingResourcesOnCreation: injectExisting = true,
    removeLumigoFromResourcesOnDeletion: remove = true,
  } = spec.tracing?.injection ?? {};
  return { enabled, remove, injectExisting, selector, tracing: readTracing(spec), pods: mode === 'Pod' };
}

function readTracing({ lumigoToken, tracing, logging }: LumigoSpec): TracingSettings {
  const { name: secretName = '', key: secretKey = '' } = lumigoToken?.secretRef ?? {};
  const { enabled: traces = true, env } = tracing ?? {};
  const variables = env === undefined ? {} : { env: getTracerVariables(env) };
  return { secretName, secretKey, traces, logs: logging?.enabled ?? false, ...variables };
}

const isTrue = (type: string) => (condition: Condition) => condition.type === type && condition.status === 'True';

export const holds = (status: LumigoStatus | undefined, type: Condition['type']): boolean =>
  status?.conditions?.some(isTrue(type)) === true;
