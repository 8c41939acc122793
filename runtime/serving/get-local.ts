import { get, type IncomingMessage, type RequestOptions } from 'node:http';

/** Gets a page of a program in this pod, by default within 2 s. The signal also ends reading the answer. */
export const getLocal = (page: Pick<RequestOptions, 'port' | 'path' | 'host' | 'signal'>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const usual = { host: '127.0.0.1', signal: AbortSignal.timeout(2_000) };
    // A connection that stays open would delay a reload of the telemetry proxy.
    get({ ...usual, ...page, agent: false }, resolve).on('error', reject);
  });
