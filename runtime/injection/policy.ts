import type { Condition, LumigoResource, LumigoSpec, LumigoStatus, NamespacePolicy, TracingSettings } from './types.ts';

/**
 * The one Lumigo that acts for its namespace: the oldest that is not being deleted (by creation time, then uid, so that
 * everybody agrees); only when none is left, the oldest that is.
 */
export function actingLumigo(lumigoes: readonly LumigoResource[]): LumigoResource | undefined {
  const byAge = lumigoes.toSorted(
    (a, b) =>
      compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      compare(a.metadata.uid, b.metadata.uid),
  );
  return byAge.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? byAge[0];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What the Lumigo resources of one namespace mean for its workloads. Fields that are missing have the schema's defaults. */
export function policyOf(lumigoes: readonly LumigoResource[]): NamespacePolicy {
  const acting = actingLumigo(lumigoes);
  if (acting === undefined) return { state: 'none' };
  const { metadata, status } = acting;
  const { name } = metadata;
  const { enabled, remove, injectExisting, tracing } = readSpec(acting.spec ?? {});
  // Whether or not injection is switched on: switched off, it was on its way out already.
  if (metadata.deletionTimestamp !== undefined) return { state: 'deleting', lumigo: name, remove };
  if (!enabled) return { state: 'disabled', lumigo: name, remove };
  // The schema asks for both; without them there would be nothing to inject.
  const isNamed = tracing.secretName !== '' && tracing.secretKey !== '';
  const problem = isNamed ? whyInactive(status) : 'SecretReferenceMissing';
  if (problem !== undefined) return { state: 'inactive', lumigo: name, reason: problem };
  const createdAt = metadata.creationTimestamp ?? '';
  return { state: 'active', lumigo: name, tracing, createdAt, injectExisting, remove };
}

/** A spec with every default, whether or not the schema has filled it in. */
function readSpec(spec: LumigoSpec) {
  const {
    enabled = true,
    injectLumigoIntoExistingResourcesOnCreation: injectExisting = true,
    removeLumigoFromResourcesOnDeletion: remove = true,
  } = spec.tracing?.injection ?? {};
  return { enabled, remove, injectExisting, tracing: readTracing(spec) };
}

function readTracing({ lumigoToken, tracing, logging }: LumigoSpec): TracingSettings {
  const { name: secretName = '', key: secretKey = '' } = lumigoToken?.secretRef ?? {};
  return { secretName, secretKey, traces: tracing?.enabled ?? true, logs: logging?.enabled ?? false };
}

/** The reason for a Lumigo not to be active; undefined when it is. */
function whyInactive(status: LumigoStatus | undefined): string | undefined {
  if (holds(status, 'Active')) return undefined;
  return status?.conditions?.find(isTrue('Error'))?.reason ?? 'NotReconciled';
}

const isTrue = (type: string) => (condition: Condition) => condition.type === type && condition.status === 'True';

/** Whether a condition of this type is there and true. */
export const holds = (status: LumigoStatus | undefined, type: Condition['type']): boolean =>
  status?.conditions?.some(isTrue(type)) === true;

/** Whether a condition of this type is there and false. */
export const isFalse = (status: LumigoStatus | undefined, type: Condition['type']): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'False') === true;
