import 'reflect-metadata';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension } from '@peculiar/x509';
import { request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { issueAuthority, issueLeaf, type KeyPair } from '../../runtime/certificates/issue.ts';

const validity = () => ({ now: new Date(), days: 1 });

export const clientAuthority = (name: string): Promise<KeyPair> => issueAuthority(name, validity());

/** A certificate that this authority signs for a user; with `use: 'serverAuth'` one that is for no client. */
export const clientCertificate = (authority: KeyPair, user: string, use: 'clientAuth' | 'serverAuth' = 'clientAuth') =>
  issueLeaf(authority, `CN=${user}`, [new ExtendedKeyUsageExtension([ExtendedKeyUsage[use]])], validity());

export interface Posted {
  readonly status: number | undefined;
  readonly text: string;
  readonly connection: string | undefined;
}

interface Post {
  readonly port: number;
  readonly path: string;
  readonly ca: string;
  readonly client?: KeyPair | undefined;
  readonly body: string;
  /** Announces so many bytes, and sends none of them. */
  readonly announced?: number;
}

/** Posts as an API server does, on a connection of its own. */
export function post({ port, path, ca, client, body, announced }: Post): Promise<Posted> {
  const headers = { 'content-type': 'application/json', 'content-length': announced ?? Buffer.byteLength(body) };
  const where = { host: '127.0.0.1', port, path };
  const shown = client === undefined ? {} : { cert: client.certificate, key: client.key };
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, method: 'POST', ca, headers, agent: false, ...shown }, (answer) => {
      const { statusCode: status, headers: given } = answer;
      void textOf(answer).then((text) => resolve({ status, text, connection: given.connection }), reject);
    });
    sent.on('error', reject);
    if (announced === undefined) sent.end(body);
    else sent.flushHeaders();
  });
}
