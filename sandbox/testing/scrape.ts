import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';

interface Scrape {
  readonly port: number;
  readonly path: string;
  readonly ca: string;
  readonly token?: string;
}

interface Scraped {
  readonly status: number | undefined;
  readonly text: string;
  /** The fingerprint of what was served with. */
  readonly certificate: string | undefined;
}

/** Reads metrics over TLS as Prometheus does, on a connection of its own. */
export function scrape({ port, path, ca, token }: Scrape): Promise<Scraped> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, ca, headers, agent: false }, (response) => {
      const certificate = (response.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256;
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, text, certificate }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
