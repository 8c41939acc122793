import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509';
import { createPrivateKey, KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { CertificateFiles } from './plan-certificates.ts';

/** Both are PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** `host` is a DNS name or an IP address, `now` milliseconds since 1970. The authority signs only this pair, and its key is not kept. */
export type IssuePair = (host: string, days: number, now: number) => Promise<CertificateFiles>;

interface Validity {
  readonly days: number;
  /** The certificate is valid from an hour before, because clocks differ. */
  readonly now: Date;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

export const issueAuthority = (commonName: string, validity: Validity): Promise<KeyPair> => {
  const flags = KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature;
  const uses = [new BasicConstraintsExtension(true, undefined, true), new KeyUsagesExtension(flags, true)];
  return issue(undefined, `CN=${commonName}`, uses, validity);
};

export const issuePair: IssuePair = async (host, days, now) => {
  const validity = { days, now: new Date(now) };
  const authority = await issueAuthority('lumigo-operator', validity);
  return { ...(await issueServing(authority, [host], validity)), authority: authority.certificate };
};

export function issueServing(authority: KeyPair, hosts: readonly string[], validity: Validity): Promise<KeyPair> {
  const names = hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const uses = [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(names),
  ];
  return issueLeaf(authority, `CN=${hosts[0] ?? 'server'}`, uses, validity);
}

/** `subject`: `CN=name, O=group`. */
export const issueLeaf = (
  authority: KeyPair,
  subject: string,
  uses: readonly Extension[],
  validity: Validity,
): Promise<KeyPair> => {
  const leaf = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
  ];
  return issue(authority, subject, [...leaf, ...uses], validity);
};

/** Without an authority, the certificate signs itself. */
async function issue(
  authority: KeyPair | undefined,
  subject: string,
  extensions: Extension[],
  { now, days }: Validity,
): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: randomBytes(16).toString('hex'),
    subject,
    issuer: authority === undefined ? subject : new X509Certificate(authority.certificate).subject,
    publicKey: keys.publicKey as never,
    signingKey: (authority === undefined ? keys.privateKey : await importKey(authority.key)) as never,
    signingAlgorithm: algorithm,
    notBefore: new Date(now.getTime() - HOUR_MS),
    notAfter: new Date(now.getTime() + days * 24 * HOUR_MS),
    extensions,
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
  return { certificate: certificate.toString('pem'), key };
}

const importKey = (pem: string): Promise<webcrypto.CryptoKey> => {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
};
