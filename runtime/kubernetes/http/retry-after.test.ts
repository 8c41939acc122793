import { describe, expect, it } from '@jest/globals';
import { ApiError } from './errors.ts';
import { StaleSocketError } from './exchange.ts';
import { retryAfterMs } from './retry-after.ts';

const first = { attempts: 1, waitedMs: 0, random: 0 };
const post = { method: 'POST' } as const;
const get = { method: 'GET' } as const;
const answered = (status: number, retryAfterSeconds?: number) =>
  new ApiError({}, { status, subject: 'POST /api/v1/pods', retryAfterSeconds });
const stale = new StaleSocketError('closed', 'ECONNRESET');

describe('retryAfterMs', () => {
  it.each([
    ['as long as the server asks', answered(429, 2), post, first, 2_000],
    ['up to half of it longer, so not all return at once', answered(429, 2), post, { ...first, random: 0.5 }, 2_500],
    ['also after 503 with Retry-After', answered(503, 1), post, first, 1_000],
    ['for the longest time that an API server asks for', answered(429, 32), post, { ...first, random: 1 }, 48_000],
    ['for a moment if the server asks for none', answered(429, 0), post, first, 100],
    ['a second if the server says nothing, up to four times', answered(429), post, { ...first, attempts: 4 }, 1_000],
    ['not at all for a connection that was closed, under a GET', stale, get, first, 0],
    ['not at all for one under a PUT, which the resourceVersion guards', stale, { method: 'PUT' } as const, first, 0],
    ['nor under a write that may be sent twice', stale, { ...post, repeatable: true }, first, 0],
  ])('waits %s', (_case, error, request, context, ms) => expect(retryAfterMs(error, request, context)).toBe(ms));

  it.each([
    ['another error', answered(500), post, first],
    ['503 without Retry-After: it may have been done', answered(503), post, first],
    ['a wait that is too long to sit out', answered(429, 60), post, first],
    ['the fifth attempt', answered(429), post, { ...first, attempts: 5 }],
    ['a wait that is too long after the earlier ones', answered(429, 32), post, { ...first, waitedMs: 20_000 }],
    ['a wait of a watch, which then counts as broken', answered(429, 16), { ...get, pool: 'standing' } as const, first],
    ['a wait beyond the limit of the request', answered(503, 8), { ...post, maxWaitMs: 5_000 }, first],
    ['any wait of a request whose caller decides when to retry', answered(429, 0), { ...post, maxWaitMs: 0 }, first],
    ['a closed connection under a write that must not be sent twice', stale, post, first],
    ['a second closed connection', stale, get, { ...first, attempts: 2 }],
  ])('gives up on %s', (_case, error, request, context) =>
    expect(retryAfterMs(error, request, context)).toBeUndefined(),
  );
});
