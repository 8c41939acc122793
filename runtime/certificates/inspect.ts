import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { PairFacts } from './plan-certificates.ts';

/** PEM texts as they stand in the Secret; `authority` may be several certificates. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a bundle, each as PEM; what cannot be read is left out. */
export const certificatesIn = (bundle: string): readonly string[] =>
  (bundle.match(PEM) ?? []).filter((pem) => read(pem) !== undefined).map((pem) => `${pem}\n`);

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** From when to when a certificate is valid, in milliseconds since 1970. */
export const lifeOf = ({ validFrom, validTo }: X509Certificate) => ({
  notBefore: Date.parse(validFrom),
  notAfter: Date.parse(validTo),
});

/** What is to be known of a pair to decide about it; undefined when the certificate cannot be read at all. */
export function inspectPair(files: CertificateFiles, dnsName: string): PairFacts | undefined {
  const certificate = read(files.certificate);
  if (certificate === undefined) return undefined;
  const isNamed = (certificate.checkHost(dnsName) ?? certificate.checkIP(dnsName)) !== undefined;
  return {
    ...lifeOf(certificate),
    fits: isNamed && signerOf(files) !== undefined && isKeyOf(files.key, certificate),
  };
}

/** From when on it is valid, in milliseconds since 1970; NaN where it cannot be read. */
export const issuedAtOf = (certificate: string): number => Date.parse(read(certificate)?.validFrom ?? '');

/** The authority of the Secret that signed its certificate. */
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

/** The bundle with one more authority, first, and without those that have ended; no more than three in all. */
export function withAuthority(bundle: string, authority: string, now: number): string {
  const others = certificatesIn(bundle).filter((pem) => pem.trim() !== authority.trim());
  const valid = others.filter((pem) => Date.parse(read(pem)?.validTo ?? '') > now);
  return [`${authority.trim()}\n`, ...valid].slice(0, 3).join('');
}

/** Whether each of the bundles has the authority. */
export const areTrusting = (bundles: readonly string[], authority: string): boolean =>
  bundles.every((bundle) => certificatesIn(bundle).some((pem) => pem.trim() === authority.trim()));
