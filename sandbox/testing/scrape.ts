import { request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
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
      void textOf(response).then((text) => resolve({ status: response.statusCode, text, certificate }), reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}
