import { probeEchoPrefix, probeLabel } from '../contract.ts';
import type { PatchOperation, Workload } from '../injection/types.ts';
import { printable } from '../wording/printable.ts';

/** The part of an `admission.k8s.io/v1` AdmissionReview's request that the webhooks read. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly namespace?: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly userInfo?: { readonly username?: string };
  readonly object?: Workload | null;
  readonly oldObject?: Workload | null;
  readonly dryRun?: boolean;
}

/** What a webhook answers, before it is put into an AdmissionReview. */
export interface Answer {
  readonly allowed: boolean;
  /** Why, for whoever reads the API server's audit log or this program's debug log. */
  readonly message: string;
  /** HTTP-like: 200 as intended, 409 refused, 500 something of ours failed. */
  readonly code: 200 | 409 | 500;
  readonly patch?: readonly PatchOperation[];
  /** Shown to the person who sent the request, by kubectl for example. */
  readonly warnings?: readonly string[];
  /** The workload that whoever reads the log at its default level wants to know of: it opts out. */
  readonly notable?: string;
}

const REVIEW_VERSION = 'admission.k8s.io/v1';

/** The request inside a review, or the sentence that says why this is none. */
export function readReview(body: unknown): AdmissionRequest | string {
  if (typeof body !== 'object' || body === null) return 'the body is not a JSON object; send it as application/json';
  const { apiVersion, kind, request } = body as { apiVersion?: unknown; kind?: unknown; request?: unknown };
  if (kind !== 'AdmissionReview' || apiVersion !== REVIEW_VERSION)
    return `this webhook reads ${REVIEW_VERSION} AdmissionReview, not ${String(apiVersion)} ${String(kind)}`;
  const read = request as Partial<AdmissionRequest> | null | undefined;
  if (typeof read?.uid !== 'string' || read.uid === '') return 'the AdmissionReview has no request with a uid';
  if (typeof read.kind?.kind !== 'string') return 'the AdmissionReview names no kind';
  return read as AdmissionRequest;
}

/** Lets the object in as it is. */
export const allowed = (message: string, warnings: readonly string[] = []): Answer => ({
  allowed: true,
  code: 200,
  message,
  warnings,
});

/** The answer to a dry run by which the operator finds out whether it is called; undefined for everything else. */
export function probeEcho({ dryRun, object }: AdmissionRequest): Answer | undefined {
  const probe = dryRun === true ? object?.metadata.labels?.[probeLabel] : undefined;
  return probe === undefined ? undefined : allowed('probe', [probeEchoPrefix + probe]);
}

/** The answer as the AdmissionReview that the API server waits for, as text. */
export function writeReview(uid: string, { allowed, code, message, patch = [], warnings = [] }: Answer): string {
  const said = warnings.length > 0 ? { warnings: warnings.map(printable) } : {};
  const response = { uid, allowed, status: { code, message }, ...said };
  const text = JSON.stringify({ apiVersion: REVIEW_VERSION, kind: 'AdmissionReview', response });
  if (patch.length === 0) return text;
  // Put in by hand: base64 has nothing to be escaped, which would be looked for in all of it.
  const inBase64 = Buffer.from(JSON.stringify(patch)).toString('base64');
  return `${text.slice(0, -2)},"patchType":"JSONPatch","patch":"${inBase64}"}}`;
}
