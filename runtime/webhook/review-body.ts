import { limits, type Body } from './body.ts';
import { allowed, readReview, type AdmissionRequest, type Answer } from './review.ts';

export type Review = (request: AdmissionRequest) => Answer;

export type Reviewed =
  | { readonly uid: string; readonly answer: Answer; readonly seconds: number }
  /** It cannot be told what was asked. */
  | { readonly status: 400 | 413 | 429; readonly message: string };

/**
 * Reviews what a body asks for; throws a SyntaxError for one that is no JSON. One that would cost too much is not parsed: it is let through,
 * unless `reviewHead` refuses what the head says, which is a request without its object.
 */
export function reviewBody(body: Body, review: Review, reviewHead?: Review): Reviewed {
  if (body.kind === 'refused') return body;
  if (body.kind === 'large')
    return reviewUnread(body.head, `${body.length} bytes, of which ${limits.largest} are read`, reviewHead);
  const { bytes } = body;
  if (bytes.length > limits.small && isTooStructured(bytes))
    return reviewUnread(
      bytes.toString('latin1', 0, limits.head),
      `${bytes.length} bytes of many small values`,
      reviewHead,
    );
  const read = readReview(JSON.parse(bytes.toString()));
  if (typeof read === 'string') return { status: 400, message: read };
  const started = performance.now();
  const answer = review(read);
  return { uid: read.uid, answer, seconds: (performance.now() - started) / 1000 };
}

/** A review as the API server writes it begins so. */
const HEAD = /^\s*\{[^{}]{0,200}"request"\s*:\s*\{\s*"uid"\s*:\s*"([-0-9A-Za-z]{1,64})"/;

/** And goes on so before anything that a user writes freely: a quotation mark inside of a name has a backslash before it. */
const PLACE = /"namespace"\s*:\s*"([-a-z0-9]{1,63})"\s*,\s*"operation"\s*:\s*"(CREATE|UPDATE|DELETE|CONNECT)"/;

function reviewUnread(head: string, size: string, reviewHead: Review | undefined): Reviewed {
  const uid = HEAD.exec(head)?.[1];
  if (uid === undefined)
    return { status: 413, message: `the review is too large (${size}), and its uid is not at its head` };
  const [, namespace, operation] = PLACE.exec(head) ?? [];
  if (reviewHead !== undefined && namespace !== undefined) {
    const kind = { group: '', version: '', kind: '' };
    const answer = reviewHead({ uid, kind, namespace, operation: operation as AdmissionRequest['operation'] });
    if (!answer.allowed) return { uid, answer, seconds: 0 };
  }
  const message = `Lumigo: the resource is too large to be reviewed (${size}) and is not changed`;
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
