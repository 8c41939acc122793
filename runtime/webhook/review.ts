import { probeEchoPrefix, probeLabel } from '../contract.ts';
import type { PatchOperation, Workload } from '../api/objects.ts';
import { printable } from '../wording/printable.ts';

export const reviewType = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const;

/** The part of a review's request that the webhooks read. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly operation: string | undefined;
  readonly userInfo?: { readonly username?: string } | undefined;
  /** Left out if it has not the form that an API server sends. */
  readonly object?: Workload | undefined;
  readonly oldObject?: Workload | undefined;
  readonly dryRun?: boolean | undefined;
  /** Why the object was not read. */
  readonly unread?: string;
}

/** The answer of a webhook, before it is put into an AdmissionReview. */
export interface Answer {
  readonly allowed: boolean;
  /** The reason, for the API server's audit log and this program's debug log. */
  readonly message: string;
  /** HTTP-like: 200 as intended, 409 refused, 500 an error of the operator. */
  readonly code: 200 | 409 | 500;
  readonly patch?: readonly PatchOperation[];
  /** Shown to the person who sent the request, by kubectl for example. */
  readonly warnings?: readonly string[];
  /** A workload that opts out: the log names it at its default level. */
  readonly notable?: string;
}

/** Admits the object unchanged. */
export const allowed = (message: string, warnings: readonly string[] = []): Answer => ({
  allowed: true,
  code: 200,
  message,
  warnings,
});

/** Returns the answer to a dry run by which the operator finds out if it is called, and undefined for other requests. */
export function probeEcho({ dryRun, object }: AdmissionRequest): Answer | undefined {
  const probe = dryRun === true ? object?.metadata.labels?.[probeLabel] : undefined;
  return probe === undefined ? undefined : allowed('probe', [probeEchoPrefix + probe]);
}

/** Returns the answer as the text of the AdmissionReview that the API server waits for. */
export function writeReview(uid: string, { allowed, code, message, patch = [], warnings = [] }: Answer): string {
  const shown = warnings.length > 0 ? { warnings: warnings.map(printable) } : {};
  const text = JSON.stringify({ ...reviewType, response: { uid, allowed, status: { code, message }, ...shown } });
  if (patch.length === 0) return text;
  // Inserted as text: base64 has nothing to escape, and `stringify` would search all of it.
  const inBase64 = Buffer.from(JSON.stringify(patch)).toString('base64');
  return `${text.slice(0, -2)},"patchType":"JSONPatch","patch":"${inBase64}"}}`;
}
