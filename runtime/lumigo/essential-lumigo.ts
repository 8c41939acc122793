import { annotations, lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { digest } from '../wording/digest.ts';

/** Takes the place of all finalizers that are not ours: whether there are any matters, and which does not. */
const OTHERS = 'others';

const metadataFields = [
  ...['namespace', 'name', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
] as const;

/** The operator writes about ten. */
const MAX_CONDITIONS = 32;
/** As JSON, in characters. The definition bounds the texts; that of the original operator does not. */
const MAX_SPEC = 4_096;

/**
 * Returns the part of a `Lumigo` resource that this program uses; the rest is as large as a tenant makes it. Labels and annotations are
 * a digest, which tells that they changed. A spec that is longer than any valid one counts as one that names no Secret.
 * The list of instrumented resources is left out because it grows.
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
  const { labels, annotations: written, finalizers = [] } = metadata;
  const retry = written?.[annotations.retry];
  const kept = metadataFields.filter((field) => metadata[field] !== undefined).map((field) => [field, metadata[field]]);
  return {
    ...(Object.fromEntries(kept) as LumigoResource['metadata']),
    finalizers: [...new Set(finalizers.map((each) => (each === contract.finalizer ? each : OTHERS)))],
    ...(retry === undefined ? {} : { annotations: { [annotations.retry]: digest(retry) } }),
    labelsDigest: metadata.labelsDigest ?? digest(JSON.stringify([labels, written])),
  };
}
