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

/**
 * Returns the bounded part of a `Lumigo`, because a tenant decides the size of the rest. Labels and annotations become
 * a digest. A spec that is too long counts as one without a Secret.
 */
export function essentialLumigo({ apiVersion, kind, metadata, spec, status }: LumigoResource): LumigoResource {
  const { instrumentedResources: _list, conditions, ...rest } = status ?? {};
  return {
    apiVersion,
    kind,
    metadata: essentialMetadata(metadata),
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
