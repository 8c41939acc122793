import { createPrivateKey, X509Certificate } from 'node:crypto';

/** PEM texts of the Secret. `authority` can be several certificates. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

/** What the plan needs to know about the pair in the Secret; times in milliseconds since 1970. */
export interface PairFacts {
  readonly notBefore: number;
  readonly notAfter: number;
  /** The key belongs to the certificate, its names are those of the Service, and its authority is there and signed it. */
  readonly fits: boolean;
}

interface CertificateState {
  /** Undefined if there is no pair, or none that can be read. */
  readonly pair: PairFacts | undefined;
  /** The API server trusts the authority that signed it, for every webhook. */
  readonly trusted: boolean;
  readonly now: number;
}

/**
 * `replace`: the pair cannot be served, so a new one is written at once. `renew`: the served pair still works, so a new one is
 * announced to the API server first and served a moment later. `trust`: the API server does not know the authority.
 */
type CertificatePlan = 'replace' | 'renew' | 'trust' | 'nothing';

const DAY_MS = 24 * 3_600_000;
/** Clocks may differ by this much. */
const SKEW_MS = 5 * 60_000;
/** More authorities than this are not kept in a bundle. */
const MAX_AUTHORITIES = 3;

/** How long a certificate that the operator issues is valid. */
export const VALID_DAYS = 365;

/** Returns when a certificate is due for renewal: a third of its life before it expires, as in cert-manager, but at most 30 days. */
export const renewalDueAt = ({ notBefore, notAfter }: Omit<PairFacts, 'fits'>): number =>
  notAfter - Math.min((notAfter - notBefore) / 3, 30 * DAY_MS);

/** Returns what is due for the webhook's certificate at `now` (milliseconds since 1970). */
export function planCertificates({ pair, trusted, now }: CertificateState): CertificatePlan {
  if (pair === undefined || !pair.fits || now >= pair.notAfter || now < pair.notBefore - SKEW_MS) return 'replace';
  if (now >= renewalDueAt(pair)) return 'renew';
  return trusted ? 'nothing' : 'trust';
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a bundle, each as PEM, without those that cannot be read. */
const certificatesIn = (bundle: string): readonly string[] =>
  (bundle.match(PEM) ?? []).filter((pem) => read(pem) !== undefined).map((pem) => `${pem}\n`);

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Returns when a certificate is valid, in milliseconds since 1970. */
export const lifeOf = ({ validFrom, validTo }: X509Certificate) => ({
  notBefore: Date.parse(validFrom),
  notAfter: Date.parse(validTo),
});

/** Returns the facts of a pair, or undefined if its certificate cannot be read. */
export function inspectPair(files: CertificateFiles, dnsName: string): PairFacts | undefined {
  const certificate = read(files.certificate);
  if (certificate === undefined) return undefined;
  const isNamed = (certificate.checkHost(dnsName) ?? certificate.checkIP(dnsName)) !== undefined;
  return {
    ...lifeOf(certificate),
    fits: isNamed && signerOf(files) !== undefined && isKeyOf(files.key, certificate),
  };
}

/** Returns the start of a certificate's validity, in milliseconds since 1970, or NaN if it cannot be read. */
export const issuedAtOf = (certificate: string): number => Date.parse(read(certificate)?.validFrom ?? '');

/** Returns the authority of the Secret that signed its certificate. */
export function signerOf({ certificate, authority }: CertificateFiles): string | undefined {
  const leaf = read(certificate);
  return certificatesIn(authority).find((pem) => {
    const signer = read(pem);
    return leaf !== undefined && signer !== undefined && leaf.checkIssued(signer) && leaf.verify(signer.publicKey);
  });
}

function isKeyOf(key: string, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Returns the bundle with one more authority, which comes first, and without those that have expired. */
export function withAuthority(bundle: string, authority: string, now: number): string {
  const others = certificatesIn(bundle).filter((pem) => pem.trim() !== authority.trim());
  const valid = others.filter((pem) => Date.parse(read(pem)?.validTo ?? '') > now);
  return [`${authority.trim()}\n`, ...valid].slice(0, MAX_AUTHORITIES).join('');
}

/** Returns whether each of the bundles has the authority. */
export const areTrusting = (bundles: readonly string[], authority: string): boolean =>
  bundles.every((bundle) => certificatesIn(bundle).some((pem) => pem.trim() === authority.trim()));
