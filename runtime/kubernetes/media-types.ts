/** Only the metadata of objects: a tenth of the bytes, and nothing of a pod template in memory. */
export const metadataType = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
export const metadataListType = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
