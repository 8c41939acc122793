import type { LumigoResource, NamespacePolicy } from './types.ts';

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
  const { metadata, spec = {}, status } = acting;
  const { name } = metadata;
  const injection = spec.tracing?.injection ?? {};
  const enabled = injection.enabled ?? true;
  const remove = injection.removeLumigoFromResourcesOnDeletion ?? true;
  if (metadata.deletionTimestamp !== undefined) return { state: 'deleting', lumigo: name, remove: enabled && remove };
  if (!enabled) return { state: 'disabled', lumigo: name, remove };
  const conditions = status?.conditions ?? [];
  if (conditions.find(({ type }) => type === 'Active')?.status !== 'True') {
    const error = conditions.find(({ type, status: value }) => type === 'Error' && value === 'True');
    return { state: 'inactive', lumigo: name, reason: error?.reason ?? 'NotReconciled' };
  }
  return {
    state: 'active',
    lumigo: name,
    tracing: {
      secretName: spec.lumigoToken?.secretRef?.name ?? '',
      secretKey: spec.lumigoToken?.secretRef?.key ?? '',
      traces: spec.tracing?.enabled ?? true,
      logs: spec.logging?.enabled ?? false,
    },
    createdAt: metadata.creationTimestamp ?? '',
    injectExisting: injection.injectLumigoIntoExistingResourcesOnCreation ?? true,
  };
}
