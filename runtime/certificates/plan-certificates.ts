/** What is known of the pair in the certificate's Secret; times in milliseconds since 1970. */
export interface PairFacts {
  readonly notBefore: number;
  readonly notAfter: number;
  /** The key is that of the certificate, the names are those of the Service, and its authority is there and signed it. */
  readonly fits: boolean;
}

interface CertificateState {
  /** Undefined: there is none, or it cannot be read. */
  readonly pair: PairFacts | undefined;
  /** Whether the API server trusts the authority that signed it, for every webhook. */
  readonly trusted: boolean;
  readonly now: number;
}

/**
 * `replace`: nothing can be served as it is, so a new pair is written at once. `renew`: what is served still works; a new
 * pair is announced to the API server first, and served a moment later. `trust`: the API server does not know the authority.
 */
type CertificatePlan = 'replace' | 'renew' | 'trust' | 'nothing';

const DAY_MS = 24 * 3_600_000;
/** Clocks differ by this much and nobody minds. */
const SKEW_MS = 5 * 60_000;

/** How long a certificate of the operator's own is valid. */
export const VALID_DAYS = 365;

/** A third of its life before it ends, as cert-manager has it, too, but never more than 30 days. */
export const renewalDueAt = ({ notBefore, notAfter }: Omit<PairFacts, 'fits'>): number =>
  notAfter - Math.min((notAfter - notBefore) / 3, 30 * DAY_MS);

/** What is due for the webhook's certificate at `now` (milliseconds since 1970). */
export function planCertificates({ pair, trusted, now }: CertificateState): CertificatePlan {
  if (pair === undefined || !pair.fits || now >= pair.notAfter || now < pair.notBefore - SKEW_MS) return 'replace';
  if (now >= renewalDueAt(pair)) return 'renew';
  return trusted ? 'nothing' : 'trust';
}
