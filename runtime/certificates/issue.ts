import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type Extension,
  X509Certificate,
} from '@peculiar/x509';
import { createPrivateKey, KeyObject, randomBytes, webcrypto } from 'node:crypto';

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** A serving pair, and the certificate of the authority made for it alone, whose key nobody keeps. All PEM. */
export interface IssuedPair extends KeyPair {
  readonly authority: string;
}

/** What issues: for this host (a DNS name or an IP address), for so many days from now on (milliseconds since 1970). */
export type IssuePair = (host: string, days: number, now: number) => Promise<IssuedPair>;

interface Validity {
  readonly days: number;
  /** When it is issued; it is valid from an hour before, for clocks that differ. */
  readonly now: Date;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

/** A certificate authority that signs itself. */
export async function issueAuthority(commonName: string, validity: Validity): Promise<KeyPair> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    keys: keys as never,
    signingAlgorithm: algorithm,
    ...timesOf(validity),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
    ],
  });
  return { certificate: certificate.toString('pem'), key: textOf(keys.privateKey) };
}

/** A serving pair with an authority made for it alone. */
export const issuePair: IssuePair = async (host, days, now) => {
  const validity = { days, now: new Date(now) };
  const authority = await issueAuthority('lumigo-operator', validity);
  return { ...(await issueServing(authority, namesOf(host), validity)), authority: authority.certificate };
};

const namesOf = (host: string) =>
  /^[0-9.]+$|:/.test(host) ? { dnsNames: [], ipAddresses: [host] } : { dnsNames: [host] };

/** A server's certificate, valid for these names and addresses, signed by the authority. */
export function issueServing(
  authority: KeyPair,
  subject: { readonly dnsNames: readonly string[]; readonly ipAddresses?: readonly string[] },
  validity: Validity,
): Promise<KeyPair> {
  const { dnsNames, ipAddresses = [] } = subject;
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  const extensions = [
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(names),
  ];
  return issueLeaf(authority, `CN=${dnsNames[0] ?? 'server'}`, extensions, validity);
}

/** A certificate that the authority signs for this subject (`CN=name, O=group`), with what it may be used for. */
export async function issueLeaf(
  authority: KeyPair,
  subject: string,
  uses: Extension[],
  validity: Validity,
): Promise<KeyPair> {
  const keys = await newKeys();
  const issuer = new X509Certificate(authority.certificate);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: randomBytes(16).toString('hex'),
    subject,
    issuer: issuer.subject,
    publicKey: keys.publicKey as never,
    signingKey: (await importKey(authority.key)) as never,
    signingAlgorithm: algorithm,
    ...timesOf(validity),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      ...uses,
    ],
  });
  return { certificate: certificate.toString('pem'), key: textOf(keys.privateKey) };
}

const timesOf = ({ now, days }: Validity) => ({
  notBefore: new Date(now.getTime() - HOUR_MS),
  notAfter: new Date(now.getTime() + days * 24 * HOUR_MS),
});

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const textOf = (key: webcrypto.CryptoKey): string =>
  KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();

const importKey = (pem: string): Promise<webcrypto.CryptoKey> => {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
};
