import { get, type IncomingMessage, type RequestOptions } from 'node:http';

/** Gets a page of a program in this pod, by default within 2 s. The signal also ends reading the answer. */
export const getLocal = (page: Pick<RequestOptions, 'port' | 'path' | 'host' | 'signal'>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const usual = { host: '127.0.0.1', signal: AbortSignal.timeout(2_000) };
    // A connection that stays open would delay a reload of the telemetry proxy.
    get({ ...usual, ...page, agent: false }, resolve).on('error', reject);
  });

/** The telemetry proxy's metrics have about 100 KB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** @throws Error if the page is longer than 16 MiB */
export async function* upToLimit(page: AsyncIterable<Buffer>) {
  let length = 0;
  for await (const chunk of page) {
    length += chunk.length;
    if (length > MAX_BYTES)
      throw new Error(`the metrics of the telemetry proxy exceed the limit of ${MAX_BYTES} bytes`);
    yield chunk;
  }
}
