import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/** PEM texts of the Secret. `authority` can be several certificates. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const DAY_MS = 24 * 3_600_000;
/** Clocks may differ by this much. */
const SKEW_MS = 5 * 60_000;
/** More authorities than this are not kept in a bundle. */
const MAX_AUTHORITIES = 3;

/** Returns the times of a certificate, in milliseconds since 1970. Throws if it cannot be read. */
export function lifeOf(certificate: string | Buffer) {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [notBefore, notAfter] = [Date.parse(validFrom), Date.parse(validTo)];
  // A third of its life before it expires, as in cert-manager, but at most 30 days.
  return { notBefore, notAfter, renewalDueAt: notAfter - Math.min((notAfter - notBefore) / 3, 30 * DAY_MS) };
}

/**
 * Returns whether a new pair must be issued at `now` (milliseconds since 1970): there is none, it is due for renewal, or it does not work.
 * A pair works if its names are those of the Service, its key belongs to its certificate, and its authority is there and signed it.
 */
export function isPairDue(pair: CertificateFiles | undefined, dnsName: string, now: number): boolean {
  const certificate = pair && read(pair.certificate);
  if (pair === undefined || certificate === undefined) return true;
  const { notBefore, renewalDueAt } = lifeOf(pair.certificate);
  if (now >= renewalDueAt || now < notBefore - SKEW_MS) return true;
  const name = isIP(dnsName) === 0 ? certificate.checkHost(dnsName) : certificate.checkIP(dnsName);
  return name === undefined || signerOf(pair) === undefined || !isKeyOf(pair.key, certificate);
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a bundle, each as PEM, without those that cannot be read. */
const certificatesIn = (bundle: string): readonly string[] =>
  (bundle.match(PEM) ?? []).filter((pem) => read(pem) !== undefined).map((pem) => `${pem}\n`);

const read = (pem: string): X509Certificate | undefined => orUndefined(() => new X509Certificate(pem));

function orUndefined<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** Returns the authority of the Secret that signed its certificate. */
export function signerOf({ certificate, authority }: CertificateFiles): string | undefined {
  const leaf = read(certificate);
  return certificatesIn(authority).find((pem) => {
    const signer = new X509Certificate(pem);
    return leaf?.checkIssued(signer) === true && leaf.verify(signer.publicKey);
  });
}

const isKeyOf = (key: string, certificate: X509Certificate): boolean =>
  orUndefined(() => certificate.checkPrivateKey(createPrivateKey(key))) === true;

/** Returns the bundle with one more authority, which comes first, and without those that have expired. */
export function withAuthority(bundle: string, authority: string, now: number): string {
  const others = certificatesIn(bundle).filter((pem) => pem.trim() !== authority.trim());
  const valid = others.filter((pem) => lifeOf(pem).notAfter > now);
  return [`${authority.trim()}\n`, ...valid].slice(0, MAX_AUTHORITIES).join('');
}

/** Returns whether each of the bundles has the authority. */
export const areTrusting = (bundles: readonly string[], authority: string): boolean =>
  bundles.every((bundle) => certificatesIn(bundle).some((pem) => pem.trim() === authority.trim()));
