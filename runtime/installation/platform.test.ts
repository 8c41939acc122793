import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../kubernetes/http/errors.ts';
import { lastingRefusals, whyTooOld } from './platform.ts';

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

describe('Pod mode', () => {
  it.each([
    ['1', '35', 'v1.35.4'],
    ['1', '34+', 'v1.34.4-eks-1'],
  ])('is refused on an older API server: %s.%s', (major, minor, gitVersion) => {
    expect(whyTooOld({ major, minor, gitVersion })).toBe(
      `It needs Kubernetes 1.36 or newer, and the API server is ${gitVersion}. Upgrade the cluster and restart the operator`,
    );
  });

  it.each([
    ['1', '36', 'v1.36.3'],
    ['1', '36+', 'v1.36.1-gke.3'],
    ['1', '37', 'v1.37.0'],
    ['2', '0', 'v2.0.0'],
  ])('is offered on %s.%s', (major, minor, gitVersion) => {
    expect(whyTooOld({ major, minor, gitVersion })).toBeUndefined();
  });
});
