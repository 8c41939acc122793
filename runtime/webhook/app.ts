import { setTimeout as sleep } from 'node:timers/promises';
import express, { type Express, type Response } from 'express';
import type { Logger } from 'pino';
import { describeError } from '../wording/errors.ts';
import { BodyReader, limits, type Body, type Refusal } from './body.ts';
import { readReview } from './read-review.ts';
import { writeReview, type AdmissionRequest, type Answer } from './review.ts';

export type Review = (request: AdmissionRequest) => Answer;

interface AppOptions {
  /** By path. */
  readonly reviews: Readonly<Record<string, Review>>;
  readonly logger: Logger;
  readonly onAnswer?: (path: string, answer: Answer, seconds: number) => void;
}

export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  const bodies = new BodyReader();
  const enqueue = createQueue();
  for (const [path, review] of Object.entries(options.reviews)) {
    const answer = answering(path, review, options);
    app.post(path, (request, response) =>
      bodies.read(request, async (body) => {
        const work = () => {
          // The client may have disconnected by now.
          if (!request.socket.destroyed) answer(body, response);
        };
        await ('length' in body && body.length > limits.small ? enqueue(work) : work());
      }),
    );
  }
  app.use((_request, response) => refuse(response, { status: 404, message: 'there is no webhook at this path' }));
  return app;
}

/** Any pod can send reviews. Beyond this number of a level in a minute, they are logged at debug level. Texts are cut. */
const MAX_NOTABLE = 100;
const MAX_TEXT = 1_000;

function answering(path: string, review: Review, { logger, onAnswer }: AppOptions) {
  let minute = { began: -Infinity, error: 0, info: 0, debug: 0 };
  return (body: Body, response: Response): void => {
    const request = readReview(body);
    if ('status' in request) return refuse(response, request);
    const started = performance.now();
    const answer = failOpen(() => review(request));
    const { code, notable, stack } = answer;
    if (started - minute.began > 60_000) minute = { began: started, error: 0, info: 0, debug: 0 };
    const usual = code === 500 ? 'error' : notable === undefined ? 'debug' : 'info';
    minute[usual] += 1;
    const level = minute[usual] <= MAX_NOTABLE ? usual : 'debug';
    const fields = { webhook: path, code, reason: cut(answer.message), UID: cut(request.uid), allowed: code !== 409 };
    logger[level]({ ...fields, workload: cut(notable), stack: cut(stack) }, 'wrote response');
    onAnswer?.(path, answer, (performance.now() - started) / 1000);
    response.setHeader('content-type', 'application/json');
    // Sends headers and text in one piece. Express would send a buffer separately, a fourth of the cost.
    response.end(writeReview(request.uid, answer));
  };
}

const cut = (text: string | undefined): string | undefined => text?.slice(0, MAX_TEXT);

/** Allows the object if the review fails: a refusal is a decision, whatever the failurePolicy. */
function failOpen(review: () => Answer): Answer {
  try {
    return review();
  } catch (error) {
    const message = `Lumigo could not review this resource and did not change it: ${describeError(error)}`;
    return { code: 500, message, warnings: [message], stack: (error as Error).stack };
  }
}

/** Closes the connection, because the unread rest of a body would precede the next request. */
function refuse(response: Response, { status, message }: Refusal): void {
  response.setHeader('Connection', 'close');
  response.req.resume();
  response.status(status).json({ message });
}

/** Runs large reviews one at a time, each before an equal rest, so that ordinary ones wait for one at most. */
function createQueue(): (work: () => void) => Promise<void> {
  let last = Promise.resolve();
  return (work) => {
    let started = 0;
    const result = last.then(() => {
      started = performance.now();
      work();
    });
    const rest = () => sleep(performance.now() - started);
    last = result.then(rest, rest);
    return result;
  };
}
