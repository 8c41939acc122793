import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { digest } from '../wording/digest.ts';

/** Replaces all foreign finalizers, because only their presence matters. */
const OTHERS = 'others';

const metadataFields = [
  'namespace',
  'name',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
] as const;

const MAX_CONDITIONS = 32;
/** Characters of JSON, enough for the largest valid spec. The original operator's definition does not limit texts. */
const MAX_SPEC = 32_768;

/** Returns whether a `Lumigo` stays, or waits for the operator to remove its finalizer. */
export const isOurs = ({ metadata: { deletionTimestamp, finalizers } }: LumigoResource): boolean =>
  deletionTimestamp === undefined || finalizers?.includes(contract.finalizer) === true;

/**
 * Returns the bounded part of a `Lumigo`, because a tenant decides the size of the rest. Labels and annotations become
 * a digest. A spec that is too long counts as one without a Secret. One that is not ours has only metadata, because a
 * tenant can make any number of them.
 */
export function essentialLumigo(lumigo: LumigoResource): LumigoResource {
  const { apiVersion, kind, spec, status } = lumigo;
  const essential = { apiVersion, kind, metadata: essentialMetadata(lumigo.metadata) };
  if (!isOurs(lumigo)) return essential;
  const { instrumentedResources: _list, conditions, ...rest } = status ?? {};
  return {
    ...essential,
    ...(spec === undefined || JSON.stringify(spec).length > MAX_SPEC ? {} : { spec }),
    status: { ...rest, ...(conditions === undefined ? {} : { conditions: conditions.slice(0, MAX_CONDITIONS) }) },
  };
}

function essentialMetadata(metadata: LumigoResource['metadata']): LumigoResource['metadata'] {
  const { labels, annotations, finalizers = [] } = metadata;
  const kept = metadataFields.filter((field) => metadata[field] !== undefined).map((field) => [field, metadata[field]]);
  return {
    ...(Object.fromEntries(kept) as LumigoResource['metadata']),
    finalizers: [...new Set(finalizers.map((each) => (each === contract.finalizer ? each : OTHERS)))],
    labelsDigest: metadata.labelsDigest ?? digest(JSON.stringify([labels, annotations])),
  };
}
