import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { answerTo, type Answer } from '../answer.ts';

interface Scrape {
  readonly port: number;
  readonly path: string;
  readonly ca: string;
  readonly token?: string;
}

interface Scraped extends Answer {
  /** The fingerprint of what was served with. */
  readonly certificate: string | undefined;
}

/** Reads metrics over TLS as Prometheus does, on a connection of its own. */
export async function scrape({ port, path, ca, token }: Scrape): Promise<Scraped> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let certificate: string | undefined;
  const sent = request({ host: '127.0.0.1', port, path, ca, headers, agent: false }, ({ socket }) => {
    certificate = (socket as TLSSocket).getPeerX509Certificate()?.fingerprint256;
  });
  return { ...(await answerTo(sent.end())), certificate };
}
