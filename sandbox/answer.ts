import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Returns the answer to a request that `fetch` cannot make. Rejects without a complete answer. */
export const answerTo = (sent: ClientRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      void textOf(response).then((text) => resolve({ status, headers, text }), reject);
    });
  });
