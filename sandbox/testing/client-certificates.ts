import 'reflect-metadata';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension } from '@peculiar/x509';
import { request } from 'node:https';
import { issueAuthority, issueLeaf, type KeyPair } from '../../runtime/certificates/issue.ts';
import { answerTo } from '../answer.ts';

const validity = () => ({ now: new Date(), days: 1 });

export const clientAuthority = (name: string): Promise<KeyPair> => issueAuthority(name, validity());

/** A certificate that this authority signs for a user; with `use: 'serverAuth'` one that is for no client. */
export const clientCertificate = (authority: KeyPair, user: string, use: 'clientAuth' | 'serverAuth' = 'clientAuth') =>
  issueLeaf(authority, `CN=${user}`, [new ExtendedKeyUsageExtension([ExtendedKeyUsage[use]])], validity());

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
export async function post({ port, path, ca, client, body, announced }: Post) {
  const headers = { 'content-type': 'application/json', 'content-length': announced ?? Buffer.byteLength(body) };
  const where = { host: '127.0.0.1', port, path };
  const shown = client === undefined ? {} : { cert: client.certificate, key: client.key };
  const sent = request({ ...where, method: 'POST', ca, headers, agent: false, ...shown });
  if (announced === undefined) sent.end(body);
  else sent.flushHeaders();
  const answer = await answerTo(sent);
  return { ...answer, connection: answer.headers.connection };
}
