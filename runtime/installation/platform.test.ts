import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../kubernetes/http/errors.ts';
import { lastingRefusals } from './platform.ts';

const answered = (status: number) => new ApiError({}, { status, subject: 'GET /version' });

describe('an answer to a manager that starts', () => {
  it.each([
    ['is a "not found" at once', 404, [true, true]],
    ['is no refusal at first, and one that lasts', 403, [false, true]],
    ['is no failed login at first, and one that lasts', 401, [false, true]],
    ['is never a busy API server', 429, [false, false]],
    ['is never a failure of the API server', 500, [false, false]],
  ])('%s', (_title, status, expected) => {
    const counts = lastingRefusals();
    const all = Array.from({ length: 41 }, () => counts(answered(status)));
    expect([all[0], all.at(-1)]).toEqual(expected);
  });
});
