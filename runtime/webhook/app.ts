import { setTimeout as sleep } from 'node:timers/promises';
import express, { type ErrorRequestHandler, type Express, type Response } from 'express';
import type { Logger } from 'pino';
import { paths } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import { BodyReader, limits } from './body.ts';
import { reviewBody, type Review, type Reviewed } from './review-body.ts';
import { writeReview, type Answer } from './review.ts';

interface AppOptions {
  readonly injector: Review;
  readonly lumigoes: Review;
  /** Awaited before a review where there is something to wait for: what decides about it may be out of date. */
  readonly current?: () => Promise<void> | undefined;
  readonly logger: Logger;
  /** Told of every answer: the path, the answer and how long it took. */
  readonly onAnswer?: (path: string, answer: Answer, seconds: number) => void;
}

const pathOf = { injector: paths.inject, lumigoes: paths.lumigoes } as const;

/** The webhook's HTTP application; it listens nowhere. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  const [bodies, inTurn] = [new BodyReader(), takingTurns()];
  const serve = (path: string, review: Review, reviewHead?: Review): void => {
    app.post(path, async (request, response) => {
      if (request.is('application/json') === false)
        return refuse(response, 400, 'the body is not JSON; send it as application/json');
      await bodies.read(request, async (body) => {
        const outdated = options.current?.();
        if (outdated !== undefined) await outdated;
        const size = body.kind === 'whole' ? body.bytes.length : 0;
        const work = () => {
          // The client may have disconnected by now.
          if (!request.socket.destroyed) answer(response, path, reviewBody(body, review, reviewHead), options);
        };
        await (size > limits.small ? inTurn(work) : work());
      });
    });
  };
  for (const name of ['injector', 'lumigoes'] as const) {
    const review: Review = (request) => failOpen(() => options[name](request), options.logger, request.uid);
    // The namespace alone decides if there may be another Lumigo.
    serve(pathOf[name], review, name === 'lumigoes' ? review : undefined);
  }
  app.use((_request, response) => refuse(response, 404, 'there is no webhook at this path'));
  app.use(refuseGarbage);
  return app;
}

function answer(response: Response, path: string, reviewed: Reviewed, { logger, onAnswer }: AppOptions): void {
  if ('status' in reviewed) return refuse(response, reviewed.status, reviewed.message);
  const { uid, answer, seconds } = reviewed;
  const { code, message: reason, allowed, notable: workload } = answer;
  logger[workload === undefined ? 'debug' : 'info'](
    { webhook: path, code, reason, UID: uid, allowed, workload },
    'wrote response',
  );
  onAnswer?.(path, answer, seconds);
  response.setHeader('content-type', 'application/json');
  // A text given to `end` leaves with the headers in one piece; Express would send a buffer after them (a fourth of the cost).
  response.end(writeReview(uid, answer));
}

/**
 * Whatever fails here is ours, and must not keep anybody's workload out of the cluster: the API server takes
 * `allowed: false` for a decision, whatever the failurePolicy says.
 */
function failOpen(review: () => Answer, logger: Logger, uid: string): Answer {
  try {
    return review();
  } catch (error) {
    logger.error({ err: error, UID: uid }, 'cannot review an object, allowing it unchanged');
    const message = `Lumigo could not review this resource and did not change it: ${describeError(error)}`;
    return { allowed: true, code: 500, message, warnings: [message] };
  }
}

/** The connection ends with it: the rest of a body that nobody reads would stand before the next request. */
function refuse(response: Response, status: number, message: string): void {
  response.setHeader('Connection', 'close');
  response.req.resume();
  response.status(status).json({ message });
}

/** Bodies that are no JSON or are cut off. */
const refuseGarbage: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error);
  refuse(response, 400, `the review cannot be read: ${describeError(error)}`);
};

/**
 * Large reviews are worked off one after the other, each followed by a rest as long as it took. The webhook has one thread:
 * whoever sends many has it half the time at most, and no ordinary review waits for more than one of them.
 */
function takingTurns(): (work: () => void) => Promise<void> {
  let last = Promise.resolve();
  return (work) => {
    let tookMs = 0;
    const result = last.then(() => {
      const started = performance.now();
      try {
        work();
      } finally {
        tookMs = performance.now() - started;
      }
    });
    const rest = () => sleep(tookMs);
    last = result.then(rest, rest);
    return result;
  };
}
