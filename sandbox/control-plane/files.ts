import 'reflect-metadata';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension } from '@peculiar/x509';
import { stringify } from 'yaml';
import { issueAuthority, issueLeaf, issueServing } from '../../runtime/certificates/issue.ts';
import type { Host } from './host.ts';

/** Writes the files of the programs. Returns the administrator's credentials. */
export async function writeFiles(folder: string, server: string, host: Host, auditPolicy: string) {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const validity = { now: new Date(), days: 365 };
  const authority = await issueAuthority('lumigo-sandbox', validity);
  const service = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map((end) => `kubernetes${end}`);
  const hosts = new Set(['localhost', ...service, '127.0.0.1', host.address, host.serviceAddress]);
  const serving = await issueServing(authority, [...hosts], validity);
  // RSA, the default of Kubernetes' installers, takes a thousand times the CPU time.
  const serviceAccount = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  // The API server shows this certificate to kubelets, for logs.
  const isClient = [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])];
  const client = await issueLeaf(authority, 'CN=kube-apiserver, O=system:masters', isClient, validity);
  const token = randomBytes(24).toString('base64url');
  write('ca.crt', authority.certificate);
  write('ca.key', authority.key);
  write('apiserver.crt', serving.certificate);
  write('apiserver.key', serving.key);
  write('kubelet-client.crt', client.certificate);
  write('kubelet-client.key', client.key);
  write('service-account.pub', serviceAccount.publicKey);
  write('service-account.key', serviceAccount.privateKey);
  write('tokens.csv', [`${token},admin,admin,"system:masters"`, ...host.users, ''].join('\n'));
  write('audit-policy.yaml', auditPolicy);
  write('kubeconfig', toKubeconfig(server, authority.certificate, { token }));
  return { authority, ca: authority.certificate, token, kubeconfig: join(folder, 'kubeconfig') };
}

/** @param user a `token`, a file that is read again and again (`tokenFile`), or a plugin (`exec`) */
export function toKubeconfig(server: string, ca: string, user: object): string {
  const name = 'lumigo-sandbox';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
