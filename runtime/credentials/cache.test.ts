import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pino from 'pino';
import { AnswerTooLargeError, ApiError, ConnectionError } from '../kubernetes/http/errors.ts';
import { CredentialCache } from './cache.ts';

/** Tokens by the names of their Secrets, or the status of an answer without one. 0: no answer. 1: too large. 2: no text. Others do not exist. */
let answers: Record<string, string | number>;
/** The names of the Secrets that were requested. */
let reads: string[];
let changes: string[];
let cache: CredentialCache;
let stop: AbortController;
let running: Promise<void>;

function readSecret(_namespace: string, name: string) {
  reads.push(name);
  const answer = answers[name] ?? 404;
  if (answer === 0) return Promise.reject(new ConnectionError('refused', 'ECONNREFUSED'));
  if (answer === 1) return Promise.reject(new AnswerTooLargeError(name, 4, ''));
  if (answer === 2) return Promise.resolve({ data: { token: 5 as never }, version: '1' });
  if (typeof answer === 'number') return Promise.reject(new ApiError({}, { status: answer, subject: 'GET' }));
  return Promise.resolve({ data: { token: Buffer.from(answer).toString('base64') }, version: `of ${answer}` });
}

beforeEach(() => {
  jest.useFakeTimers();
  [answers, reads, changes, stop] = [{}, [], [], new AbortController()];
  cache = new CredentialCache({ readSecret, logger: pino({ enabled: false }) });
  cache.changed.on((namespace) => changes.push(namespace), stop.signal);
  running = cache.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
  jest.useRealTimers();
});

const source = (more: object = {}) => ({ namespace: 'shop', name: 'credentials', key: 'token', ...more });
const [first, second] = ['a', 'b'].map((letter) => `t_${letter.repeat(21)}`) as [string, string];
const lacks = (reason: string) => ({ problem: { reason } });

/** The cache reads what is due by then. */
async function pass(ms: number, leads = true): Promise<void> {
  cache.lead(leads);
  await jest.advanceTimersByTimeAsync(ms);
}

/** Lets time pass until a condition is met, for some seconds at most. */
async function passUntil(isMet: () => boolean, seconds = 60): Promise<void> {
  for (let steps = seconds * 10; steps > 0 && !isMet(); steps -= 1) await pass(100);
}

async function expectSoon(expected: object, of = source()): Promise<void> {
  await passUntil(() => expect.objectContaining(expected).asymmetricMatch(cache.get(of)));
  expect(cache.get(of)).toMatchObject(expected);
}

async function knowing(token: string): Promise<void> {
  answers['credentials'] = token;
  cache.want('a', [source()]);
  await expectSoon({ token });
}

describe('the cache of credentials [F9]', () => {
  it('reads a Secret once for all its keys and users, and returns its version', async () => {
    answers['credentials'] = first;
    cache.want('a', [source(), source({ key: 'other' })]);
    cache.want('b', [source()]);
    expect(cache.get(source())).toBeUndefined();
    await pass(0);
    expect(cache.get(source())).toEqual({ token: first, version: `of ${first}` });
    expect(cache.get(source({ key: 'other' }))).toMatchObject({
      ...lacks('SecretKeyNotFound'),
      version: `of ${first}`,
    });
    expect([reads.length, changes]).toEqual([1, ['shop']]);
  });

  it.each(['', '.', '..', 'a/b', 'a%b'])("answers without a request if the name is '%s', which none has", (name) => {
    cache.want('a', [source({ name })]);
    expect(cache.get(source({ name }))).toMatchObject(lacks('SecretReferenceMissing'));
  });

  it('reads a changed Secret at once, and one that the leader reports, but not its own report', async () => {
    const readsWith = async (more: object) => {
      cache.want('a', [source(more)]);
      await pass(3_000);
      return reads.length;
    };
    answers['credentials'] = first;
    expect(await readsWith({ revision: '1' })).toBe(1);
    expect(await readsWith({ revision: '1', announced: `of ${first}` })).toBe(1);
    expect(await readsWith({ revision: '2', announced: `of ${first}` })).toBe(2);
    answers['credentials'] = second;
    expect(await readsWith({ revision: '2', announced: `of ${second}` })).toBe(3);
    expect(cache.get(source())).toMatchObject({ token: second });
  });

  it('uses no token of a Secret that became too large to read', async () => {
    await knowing(first);
    answers = { credentials: 1 };
    await expectSoon(lacks('SecretTooLarge'));
  });

  it('reports a Secret whose values have another form, and reads others on', async () => {
    answers = { credentials: 2, other: first };
    cache.want('a', [source(), source({ name: 'other' })]);
    await expectSoon(lacks('SecretUnreadable'));
    await expectSoon({ token: first }, source({ name: 'other' }));
    answers['credentials'] = second;
    await expectSoon({ token: second });
  });

  it('forgets a Secret that is no longer used', async () => {
    cache.want('b', [source()]);
    await knowing(first);
    cache.want('a', []);
    expect(cache.get(source())).toBeDefined();
    cache.want('b', []);
    expect(cache.get(source())).toBeUndefined();
  });

  it.each([
    ['keeps the value of a Secret that is absent for seconds because a tool replaces it', { token: second }],
    ['reports a Secret as absent if it stays absent', lacks('SecretNotFound')],
  ])('%s', async (_title, expected) => {
    await knowing(first);
    answers = {};
    await passUntil(() => reads.length === 2, 16);
    expect([reads.length, cache.get(source())]).toMatchObject([2, { token: first }]);
    // News is no proof that the Secret stays absent.
    cache.want('a', [source({ revision: '2' })]);
    await pass(9_000);
    expect(cache.get(source())).toMatchObject({ token: first });
    expect(reads.length).toBeGreaterThan(4);
    if ('token' in expected) answers['credentials'] = second;
    await passUntil(() => cache.get(source())?.token !== first, 3);
    expect(cache.get(source())).toMatchObject(expected);
  });

  it('waits as long again if a Secret is absent a second time', async () => {
    await knowing(first);
    answers = {};
    await expectSoon(lacks('SecretNotFound'));
    await knowing(second);
    answers = {};
    const before = reads.length;
    await passUntil(() => reads.length > before, 16);
    await pass(8_000);
    expect(cache.get(source())).toMatchObject({ token: second });
    await expectSoon(lacks('SecretNotFound'));
  });
});

it('learns what a user wants without a look at the Secrets of thousands of others', () => {
  const used = process.cpuUsage();
  for (let user = 0; user < 20_000; user += 1) cache.want(`${user}`, [source({ name: `credentials-${user}` })]);
  expect(process.cpuUsage(used).user).toBeLessThan(2_000_000);
});

describe('a Secret that the operator may not read [F9]', () => {
  it('keeps its token for ten minutes, because a right may return', async () => {
    await knowing(first);
    answers = { credentials: 403, unknown: 403 };
    for (let seconds = 0; seconds < 9 * 60; seconds += 10) {
      expect(cache.get(source())).toMatchObject({ token: first });
      await pass(10_000);
    }
    expect(reads.length).toBeGreaterThan(20);
    const other = source({ key: 'other' });
    cache.want('a', [source(), other]);
    await expectSoon(lacks('SecretForbidden'), other);
    expect(cache.get(source())).toMatchObject({ token: first });
    await pass(2 * 60_000);
    await expectSoon(lacks('SecretForbidden'));
    cache.want('b', [source({ name: 'unknown' })]);
    await expectSoon(lacks('SecretForbidden'), source({ name: 'unknown' }));
    answers['credentials'] = first;
    await expectSoon({ token: first });
  });

  it('is not reported if it is forbidden for a moment, as by an API server that starts', async () => {
    answers['credentials'] = 403;
    cache.want('a', [source()]);
    await pass(0);
    await pass(600);
    expect([reads.length, cache.get(source())]).toEqual([2, undefined]);
    await knowing(first);
    expect(changes).toEqual(['shop']);
  });

  it('is read soon after news, and otherwise at the pace of all others', async () => {
    const others = Array.from({ length: 5 }, (_, index) => source({ name: `other-${index}` }));
    answers = Object.fromEntries([source(), ...others].map(({ name }) => [name, 403]));
    const wanted = (revision: string) => cache.want('a', [source({ revision }), ...others]);
    wanted('1');
    for (const each of [source(), ...others]) await expectSoon(lacks('SecretForbidden'), each);
    const before = reads.length;
    for (let second = 0; second < 60; second += 1) await pass(1_000, false);
    expect(reads.length - before).toBeLessThanOrEqual(8);
    for (const revision of ['2', '3', '4', '5', '6', '7']) {
      reads = [];
      wanted(revision);
      await pass(3_000, false);
      expect(reads).toContain('credentials');
    }
  });
});

it('keeps its values while the API server is down, and says after three tries which it never read', async () => {
  await knowing(first);
  const unknown = ['0', '1', '2'].map((index) => source({ name: `unknown-${index}` }));
  const reasons = () => unknown.map((each) => cache.get(each)?.problem?.reason);
  answers = Object.fromEntries([source(), ...unknown].map(({ name }) => [name, 0]));
  cache.want('b', unknown.slice(0, 1));
  const triesOf = () => reads.filter((name) => name === 'unknown-0');
  for (const tries of [1, 2]) {
    await passUntil(() => triesOf().length === tries);
    expect(triesOf()).toHaveLength(tries);
    expect(reasons()[0]).toBeUndefined();
  }
  cache.want('b', unknown);
  for (let second = 0; second < 60; second += 1) await pass(1_000);
  expect(reasons()).toEqual(unknown.map(() => 'SecretUnreadable'));
  expect(cache.get(source())).toMatchObject({ token: first });
  answers = { credentials: first };
  await jest.advanceTimersByTimeAsync(30_000);
  // A replica that does not lead reads them at the pace of news, too.
  for (let reading = 0; reading < unknown.length; reading += 1) await pass(500, false);
  expect(reasons()).toEqual(unknown.map(() => 'SecretNotFound'));
  expect(cache.get(source())).toMatchObject({ token: first });
});
