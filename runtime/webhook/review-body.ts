import { limits, type Body } from './body.ts';
import { allowed, readReview, type AdmissionRequest, type Answer } from './review.ts';
import { isTooStructured } from './structure.ts';

export type Review = (request: AdmissionRequest) => Answer;

export type Reviewed =
  | { readonly uid: string; readonly answer: Answer; readonly seconds: number }
  /** It cannot be told what was asked. */
  | { readonly status: 400 | 413 | 429; readonly message: string };

/** Reviews what a body asks for; throws a SyntaxError for one that is no JSON. What would cost too much is let through unread. */
export function reviewBody(body: Body, review: Review): Reviewed {
  if (body.kind === 'refused') return body;
  if (body.kind === 'large') return letThrough(body.head, `${body.length} bytes, of which ${limits.largest} are read`);
  const { bytes } = body;
  if (bytes.length > limits.small && isTooStructured(bytes))
    return letThrough(bytes.toString('latin1', 0, limits.head), `${bytes.length} bytes of many small values`);
  const read = readReview(JSON.parse(bytes.toString()));
  if (typeof read === 'string') return { status: 400, message: read };
  const started = performance.now();
  const answer = review(read);
  return { uid: read.uid, answer, seconds: (performance.now() - started) / 1000 };
}

/** A review as the API server writes it begins so. */
const HEAD = /^\s*\{[^{}]{0,200}"request"\s*:\s*\{\s*"uid"\s*:\s*"([-0-9A-Za-z]{1,64})"/;

function letThrough(head: string, size: string): Reviewed {
  const uid = HEAD.exec(head)?.[1];
  if (uid === undefined)
    return { status: 413, message: `the review is too large (${size}), and its uid is not at its head` };
  const message = `Lumigo: the resource is too large to be looked at (${size}); it is left as it is`;
  return { uid, answer: allowed(message, [message]), seconds: 0 };
}
