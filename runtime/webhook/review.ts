import { probeEchoPrefix, probeLabel } from '../contract.ts';
import type { PatchOperation, Workload } from '../api/objects.ts';
import { printable } from '../wording/printable.ts';

export const reviewType = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const;

export interface AdmissionRequest {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly operation: string | undefined;
  readonly userInfo?: { readonly username?: string } | undefined;
  /** Undefined for an object of another form than the API server's. */
  readonly object?: Workload | undefined;
  readonly oldObject?: Workload | undefined;
  readonly dryRun?: boolean | undefined;
  readonly unread?: string;
}

export interface Answer {
  readonly message: string;
  /** Like HTTP: 409 refuses the object. 500, an error of the operator, allows it as 200 does. */
  readonly code: 200 | 409 | 500;
  readonly patch?: readonly PatchOperation[];
  readonly warnings?: readonly string[];
  readonly notable?: string | undefined;
  readonly stack?: string | undefined;
}

export const allowed = (message: string, warnings: readonly string[] = []): Answer => ({
  code: 200,
  message,
  warnings,
});

/** The beginnings of two warnings. They also prove to the operator's probe that the webhook was called. */
export const tooLargeNote = 'Lumigo: the resource is too large to be reviewed';
export const otherFormNote = 'Lumigo: the object is not of the form that Kubernetes defines';

export function tooLarge(size: string): Answer {
  const message = `${tooLargeNote} (${size}) and is not changed`;
  return allowed(message, [message]);
}

const otherFormMessage = `${otherFormNote}, such as a volume that is null; nothing will be mutated`;
export const otherForm = (isShown: boolean): Answer => allowed(otherFormMessage, isShown ? [otherFormMessage] : []);

/** Returns the answer to a dry run of the operator's probe; undefined for other requests. */
export function probeEcho({ dryRun, object }: AdmissionRequest): Answer | undefined {
  const probe = dryRun === true ? object?.metadata.labels?.[probeLabel] : undefined;
  return probe === undefined ? undefined : allowed('probe', [probeEchoPrefix + probe]);
}

export function writeReview(uid: string, { code, message, patch = [], warnings = [] }: Answer): string {
  const shown = warnings.length > 0 ? { warnings: warnings.map(printable) } : {};
  const response = { uid, allowed: code !== 409, status: { code, message }, ...shown };
  const text = JSON.stringify({ ...reviewType, response });
  if (patch.length === 0) return text;
  // Inserted as text, because `stringify` would search base64 for characters to escape.
  const inBase64 = Buffer.from(JSON.stringify(patch)).toString('base64');
  return `${text.slice(0, -2)},"patchType":"JSONPatch","patch":"${inBase64}"}}`;
}
