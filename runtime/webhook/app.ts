import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { paths } from '../contract.ts';
import { describeError } from '../errors.ts';
import { readReview, writeReview, type AdmissionRequest, type Answer } from './review.ts';

interface AppOptions {
  readonly injector: (request: AdmissionRequest) => Answer;
  readonly lumigoes: (request: AdmissionRequest) => Answer;
  readonly logger: Logger;
  /** Told of every answer: the path, the answer and how long it took. */
  readonly onAnswer?: (path: string, answer: Answer, seconds: number) => void;
}

/**
 * The largest review that can be asked: the API server takes request bodies of up to 3 MB, and an UPDATE carries the
 * object twice. The last megabyte is for what surrounds them.
 */
const BODY_LIMIT_BYTES = (2 * 3 + 1) * 1024 * 1024;

/** The webhook's HTTP application; it listens nowhere. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  const json = express.json({ limit: BODY_LIMIT_BYTES });
  app.post(paths.inject, json, handler(paths.inject, options.injector, options));
  app.post(paths.lumigoes, json, handler(paths.lumigoes, options.lumigoes, options));
  app.use((_request, response) => void response.status(404).json({ message: 'no webhook is served here' }));
  app.use(refuseGarbage);
  return app;
}

function handler(path: string, review: (request: AdmissionRequest) => Answer, options: AppOptions): RequestHandler {
  return (request, response) => {
    const started = performance.now();
    const read = readReview(request.body);
    if (typeof read === 'string') {
      response.status(400).json({ message: read });
      return;
    }
    const answer = failOpen(() => review(read), options.logger, read.uid);
    const { code, message: reason, allowed } = answer;
    options.logger.debug({ webhook: path, code, reason, UID: read.uid, allowed }, 'wrote response');
    options.onAnswer?.(path, answer, (performance.now() - started) / 1000);
    const text = JSON.stringify(writeReview(read.uid, answer));
    response.setHeader('content-type', 'application/json');
    // A text given to `end` leaves with the headers in one piece; Express would send a buffer after them (a fourth of the cost).
    response.end(text);
  };
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

/** Bodies that are no JSON, too large or cut off get the status that the parser names, and a sentence. */
const refuseGarbage: ErrorRequestHandler = (error: { status?: number; message?: string }, _request, response, next) => {
  if (response.headersSent) return next(error);
  const status = error.status !== undefined && error.status >= 400 && error.status < 500 ? error.status : 400;
  response.status(status).json({ message: `the review cannot be read: ${error.message ?? 'unknown error'}` });
};
