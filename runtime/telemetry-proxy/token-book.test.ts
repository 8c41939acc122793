import { afterEach, describe, expect, it } from '@jest/globals';
import { ApiError } from '../kubernetes/errors.ts';
import { REPLACEMENT_MS, rereadMs, TRANSITION_MS } from './plan-rereading.ts';
import { TokenBook } from './token-book.ts';

const token = (digit: string): string => `t_${digit.repeat(21)}`;
const gone = new ApiError({ status: 404, reason: 'NotFound', message: 'gone' });
const source = { namespace: 'shop', name: 'credentials', key: 'token' };

let stop = new AbortController();
afterEach(() => stop.abort());

/** A book over a Secret that the test changes, and a clock that it turns. */
function bookOver(secret: { value: string | Error }) {
  stop = new AbortController();
  const clock = { now: 1_000_000 };
  const changes: string[] = [];
  const book = new TokenBook({
    readSecret: () =>
      secret.value instanceof Error
        ? Promise.reject(secret.value)
        : Promise.resolve({ token: Buffer.from(secret.value).toString('base64') }),
    onChange: (namespace) => changes.push(namespace),
    signal: stop.signal,
    now: () => clock.now,
  });
  void book.run();
  const pass = async (ms: number) => {
    clock.now += ms;
    book.want([source]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return { book, pass, changes };
}

describe('the tokens that are let in', () => {
  it('are those that stand in the Secrets, as soon as they are named', async () => {
    const { book, pass, changes } = bookOver({ value: token('a') });
    expect(book.isComplete()).toBe(true);
    await pass(0);
    expect(book.letIn()).toEqual([token('a')]);
    expect(book.token(source)).toBe(token('a'));
    expect(changes).toEqual(['shop']);
  });

  it('go on for an hour after they were replaced', async () => {
    const secret = { value: token('a') };
    const { book, pass } = bookOver(secret);
    await pass(0);
    secret.value = token('b');
    await pass(rereadMs(1));
    expect(book.token(source)).toBe(token('b'));
    expect(book.letIn()).toEqual([token('a'), token('b')]);
    await pass(TRANSITION_MS);
    expect(book.letIn()).toEqual([token('b')]);
  });

  it('end with the Secret, or when no token stands there any more', async () => {
    const secret: { value: string | Error } = { value: token('a') };
    const { book, pass } = bookOver(secret);
    await pass(0);
    secret.value = 'no token';
    await pass(rereadMs(1));
    expect(book.letIn()).toEqual([]);
    secret.value = token('a');
    await pass(rereadMs(1));
    secret.value = gone;
    await pass(rereadMs(1));
    await pass(REPLACEMENT_MS);
    expect(book.letIn()).toEqual([]);
  });

  it('go on when the Secret was only away for a moment, because somebody replaced it', async () => {
    const secret: { value: string | Error } = { value: token('a') };
    const { book, pass, changes } = bookOver(secret);
    await pass(0);
    secret.value = gone;
    await pass(rereadMs(1));
    expect(book.letIn()).toEqual([token('a')]);
    secret.value = token('b');
    await pass(REPLACEMENT_MS);
    expect(book.letIn()).toEqual([token('a'), token('b')]);
    expect(changes).toEqual(['shop', 'shop']);
  });

  it('stay when the API server does not answer', async () => {
    const secret: { value: string | Error } = { value: token('a') };
    const { book, pass } = bookOver(secret);
    await pass(0);
    secret.value = new ApiError({ status: 503, reason: 'ServiceUnavailable', message: 'later' });
    await pass(rereadMs(1));
    expect(book.letIn()).toEqual([token('a')]);
  });

  it('end when nobody names their source any more', async () => {
    const { book, pass } = bookOver({ value: token('a') });
    await pass(0);
    book.want([]);
    expect(book.letIn()).toEqual([]);
  });
});

describe('rereading', () => {
  it('finds a change within five seconds where there are few, and asks twice a second at most', () => {
    expect(rereadMs(1)).toBeLessThan(5_000);
    for (const sources of [1, 10, 100]) expect(sources / (rereadMs(sources) / 1_000)).toBeLessThanOrEqual(2);
    expect(rereadMs(1_000)).toBe(60_000);
  });
});
