import { limits, type Body } from './body.ts';
import { allowed, readReview, type AdmissionRequest, type Answer } from './review.ts';

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

/**
 * The most commas, brackets and braces in a large body. It is the structure that costs when JSON is parsed: 7 MB of
 * `[{},{},…]` take 163 MB of heap. The largest object that is decided about (injection/size.ts), with its managed fields and
 * the object before, has fewer than half as many.
 */
const MOST_STRUCTURE = 100_000;

const structural = new Uint8Array(256);
for (const character of ',[{') structural[character.charCodeAt(0)] = 1;

/**
 * Whether there is more than that in a text of JSON; those inside of strings count as well, which is simple and errs on the safe side. By an
 * index: an iterator takes five times as long, which was half of what a large review cost.
 */
function isTooStructured(bytes: Uint8Array): boolean {
  let count = 0;
  for (let index = bytes.length - 1; index >= 0; index -= 1) count += structural[bytes[index] ?? 0] ?? 0;
  return count > MOST_STRUCTURE;
}
