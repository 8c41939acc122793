import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';

/** What a server said, whole. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Resolves with the answer to a request, for what `fetch` cannot ask; rejects where none comes, or not all of it. */
export const answerTo = (sent: ClientRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      void textOf(response).then((text) => resolve({ status, headers, text }), reject);
    });
  });
