import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { orUndefined } from '../json/values.ts';

/** PEM texts of the Secret. `authority` may be several certificates. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const DAY_MS = 24 * 3_600_000;
/** A certificate that becomes valid later is replaced. */
export const SKEW_MS = 5 * 60_000;
const MAX_AUTHORITIES = 3;

/** Returns milliseconds since 1970. Throws if the certificate cannot be read. */
export function getLifetime(certificate: string | Buffer) {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const notBefore = Date.parse(validFrom);
  const notAfter = Date.parse(validTo);
  // The rule is cert-manager's: a third of its life before it expires. The limit of 30 days is ours.
  return { notBefore, notAfter, renewalDueAt: notAfter - Math.min((notAfter - notBefore) / 3, 30 * DAY_MS) };
}

/** Returns true if there is no working pair, or if it is due for renewal at `now` (milliseconds since 1970). */
export function isPairDue(pair: CertificateFiles | undefined, dnsName: string, now: number): boolean {
  const certificate = pair && read(pair.certificate);
  if (pair === undefined || certificate === undefined) return true;
  const { notBefore, renewalDueAt } = getLifetime(pair.certificate);
  if (now >= renewalDueAt || now < notBefore - SKEW_MS) return true;
  const name = isIP(dnsName) === 0 ? certificate.checkHost(dnsName) : certificate.checkIP(dnsName);
  return name === undefined || findSigner(pair) === undefined || !matchesKey(pair.key, certificate);
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns those that can be read. */
export const certificatesIn = (bundle: string): readonly string[] =>
  (bundle.match(PEM) ?? []).filter((pem) => read(pem) !== undefined).map((pem) => `${pem}\n`);

const read = (pem: string): X509Certificate | undefined => orUndefined(() => new X509Certificate(pem));

export function findSigner({ certificate, authority }: CertificateFiles): string | undefined {
  const leaf = read(certificate);
  return certificatesIn(authority).find((pem) => {
    const signer = new X509Certificate(pem);
    return leaf?.checkIssued(signer) === true && leaf.verify(signer.publicKey);
  });
}

const matchesKey = (key: string, certificate: X509Certificate): boolean =>
  orUndefined(() => certificate.checkPrivateKey(createPrivateKey(key))) === true;

export function withAuthority(bundle: string, authority: string, now: number): string {
  const others = certificatesIn(bundle).filter((pem) => pem.trim() !== authority.trim());
  const valid = others.filter((pem) => getLifetime(pem).notAfter > now);
  return [`${authority.trim()}\n`, ...valid].slice(0, MAX_AUTHORITIES).join('');
}

export const areTrusting = (bundles: readonly string[], authority: string): boolean =>
  bundles.every((bundle) => certificatesIn(bundle).some((pem) => pem.trim() === authority.trim()));
