import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { paths } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import { BodyReader, limits } from './body.ts';
import { reviewBody, type Review, type Reviewed } from './review-body.ts';
import { writeReview, type Answer } from './review.ts';
import { Turns } from './turns.ts';

interface AppOptions {
  readonly injector: Review;
  readonly lumigoes: Review;
  readonly pods: Review;
  readonly logger: Logger;
  /** Told of every answer: the path, the answer and how long it took. */
  readonly onAnswer?: (path: string, answer: Answer, seconds: number) => void;
}

const pathOf = { injector: paths.inject, lumigoes: paths.lumigoes, pods: paths.pods } as const;

/** The webhook's HTTP application; it listens nowhere. */
export function createApp(options: AppOptions): RequestListener {
  const [bodies, turns] = [new BodyReader(), new Turns()];
  const reviews = new Map<string, Review>();
  for (const name of ['injector', 'lumigoes', 'pods'] as const)
    reviews.set(pathOf[name], (request) => failOpen(() => options[name](request), options.logger, request.uid));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The API server says after it how long it will wait.
    const [path = ''] = (request.url ?? '').split('?', 1);
    const review = request.method === 'POST' ? reviews.get(path) : undefined;
    if (review === undefined) return refuse(response, 404, 'no webhook is served here');
    if (!isJson.test(request.headers['content-type'] ?? ''))
      return refuse(response, 400, 'the body is no JSON; send it as application/json');
    await bodies.read(request, async (body) => {
      const size = body.kind === 'whole' ? body.bytes.length : 0;
      const work = () => {
        // Whoever has gone by now waits for nothing.
        if (!request.socket.destroyed) answer(response, path, reviewBody(body, review), options);
      };
      await (size > limits.small ? turns.take(work) : work());
    });
  };
  return (request, response) => void serve(request, response).catch((error: unknown) => garbage(response, error));
}

const isJson = /^application\/json\s*(;|$)/i;

function answer(response: ServerResponse, path: string, reviewed: Reviewed, { logger, onAnswer }: AppOptions): void {
  if ('status' in reviewed) return refuse(response, reviewed.status, reviewed.message);
  const { uid, answer, seconds } = reviewed;
  const { code, message: reason, allowed, notable: workload } = answer;
  logger[workload === undefined ? 'debug' : 'info'](
    { webhook: path, code, reason, UID: uid, allowed, workload },
    'wrote response',
  );
  onAnswer?.(path, answer, seconds);
  const text = JSON.stringify(writeReview(uid, answer));
  response.setHeader('content-type', 'application/json');
  // A text given to `end` leaves with the headers in one piece; a buffer would be sent after them (a fourth of the cost).
  response.end(text);
}

/**
 * Whatever fails here is ours, and must not keep anybody's workload out of the cluster: the API server takes
 * `allowed: false` for a decision, whatever the failurePolicy says.
 */
function failOpen(review: () => Answer, logger: Logger, uid: string): Answer {
  try {
    return review();
  } catch (error) {
    logger.error({ err: error, UID: uid }, 'review failed');
    const message = `Lumigo could not review this resource, which is left as it is: ${describeError(error)}`;
    return { allowed: true, code: 500, message, warnings: [message] };
  }
}

/** The connection ends with it: the rest of a body that nobody reads would stand before the next request. */
function refuse(response: ServerResponse, status: number, message: string): void {
  response.req.resume();
  response
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify({ message }));
}

/** A body that is no JSON or is cut off. */
function garbage(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else refuse(response, 400, `the review cannot be read: ${describeError(error)}`);
}
