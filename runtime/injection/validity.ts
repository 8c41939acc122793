import { annotations, labels } from '../contract.ts';
import { isPlainObject, mapAt, type JsonMap } from '../json/values.ts';
import { MAX_ORIGINAL_STATE_LENGTH } from './original-state.ts';
import type { Metadata, Workload } from '../api/objects.ts';
import { findKind, toTemplate } from './workload.ts';

/** The Kubernetes limit for the keys and values of all annotations of an object or pod template. */
export const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Returns why the API server would refuse an injected object. Such an object stays as its user wrote it. */
export function whyInvalid(injected: Workload): string | undefined {
  if (isSelectedByLabel(injected))
    return `its selector uses the label '${labels.autoTrace}', which the injection changes on its pods; remove the label from the selector (Kustomize's commonLabels adds it)`;
  const sizes = [injected.metadata, toTemplate(injected)?.metadata].map(annotationBytes);
  if (Math.max(...sizes) > MAX_ANNOTATION_BYTES)
    return `its annotations would exceed ${MAX_ANNOTATION_BYTES} bytes together with the operator's; remove some`;
  const record = toTemplate(injected)?.metadata?.annotations?.[annotations.injection] ?? '';
  return record.length > MAX_ORIGINAL_STATE_LENGTH
    ? `the values that the injection replaces are too long to keep for its removal (more than ${MAX_ORIGINAL_STATE_LENGTH} characters)`
    : undefined;
}

function isSelectedByLabel(workload: Workload): boolean {
  let node: JsonMap = workload;
  for (const step of findKind(workload.apiVersion, workload.kind)?.template.slice(0, -1) ?? [])
    node = mapAt(node, step);
  const selector = mapAt(node, 'selector');
  const { matchExpressions } = selector;
  const expressions: readonly unknown[] = Array.isArray(matchExpressions) ? matchExpressions : [];
  return (
    Object.hasOwn(mapAt(selector, 'matchLabels'), labels.autoTrace) ||
    expressions.some((each) => isPlainObject(each) && each['key'] === labels.autoTrace)
  );
}

export const annotationBytes = (metadata: Metadata | undefined): number =>
  Object.entries(metadata?.annotations ?? {}).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
