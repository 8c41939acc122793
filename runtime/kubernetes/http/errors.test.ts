import { describe, expect, it } from '@jest/globals';
import { ApiError, askedWaitMs, isAlreadyExists, isConflict, isGone, isNotFound, isRefusal } from './errors.ts';

const refusal = { status: 409, subject: 'POST /api/v1/namespaces/shop/events' };

describe('an ApiError', () => {
  it('has the reason and message of the Status', () => {
    const error = new ApiError(
      {
        kind: 'Status',
        code: 403,
        reason: 'Forbidden',
        message: 'the namespace is being terminated',
        details: { causes: [{ reason: 'NamespaceTerminating', message: 'shop' }], retryAfterSeconds: 3 },
      },
      refusal,
    );
    expect(error).toMatchObject({ status: 403, reason: 'Forbidden', message: 'the namespace is being terminated' });
    expect(error.retryAfterSeconds).toBe(3);
    expect(error.hasCause('NamespaceTerminating')).toBe(true);
    expect(error.hasCause('FieldValueInvalid')).toBe(false);
  });

  it.each([404, 409, 429, 503])('is a refusal if a webhook denied, which may do so with the code %i', (code) => {
    const message = 'admission webhook "policy.example.com" denied the request: the workload is frozen';
    const denial = new ApiError({ code, reason: 'NotFound', message }, { ...refusal, status: code });
    expect(denial).toMatchObject({ status: 403, message });
    expect([isNotFound, isConflict, isRefusal].map((is) => is(denial))).toEqual([false, false, true]);
    const other = new ApiError({ code, message: `quota: ${message}` }, { ...refusal, status: code });
    expect(other.status).toBe(code);
  });

  it('quotes no token, and no control sequence of a terminal [F29]', () => {
    const token = `t_${'0123456789abcdef01234'}`;
    const message = `spec.env: Invalid value: "${token}\u001b[31m": must be a Secret`;
    const quoted = new ApiError({ code: 422, reason: 'Invalid', message }, refusal).message;
    expect(quoted).toBe('spec.env: Invalid value: "t_…�[31m": must be a Secret');
  });

  it.each([['<html>Bearer s3cret</html>'], [undefined], [{ error: 's3cret' }]])(
    'says so, and quotes nothing, if no API server answered: %j',
    (body) => {
      const { message } = new ApiError(body, { ...refusal, status: 502 });
      expect(message).toContain('POST /api/v1/namespaces/shop/events failed with status 502');
      expect(message).not.toContain('s3cret');
    },
  );
});

it.each([{ causes: {} }, { causes: [null] }, { causes: 'x' }, {}])(
  'an ApiError without causes has none: %j',
  (details) => expect(new ApiError({ code: 409, details }, refusal).hasCause('NamespaceTerminating')).toBe(false),
);

it.each([
  [{ retryAfterSeconds: 7 }, undefined, 7_000],
  [{ retryAfterSeconds: '7' }, undefined, 0],
  [{}, 3_600, 60_000],
  [{}, 30 * 86_400, 60_000],
])('a wait of at most a minute is asked for by %j and the header %j', (details, retryAfterSeconds, expected) =>
  expect(askedWaitMs(new ApiError({ code: 503, details }, { ...refusal, retryAfterSeconds }))).toBe(expected),
);

describe('predicates', () => {
  it('distinguish a conflict from an object that exists already, which have the same status', () => {
    const exists = new ApiError({ code: 409, reason: 'AlreadyExists' }, refusal);
    const conflict = new ApiError({ code: 409, reason: 'Conflict' }, refusal);
    expect([exists, conflict].map(isAlreadyExists)).toEqual([true, false]);
    expect([exists, conflict].map(isConflict)).toEqual([false, true]);
  });

  it.each([403, 408, 409, 422, 429, 500])('take %i for a refusal unless a retry may help', (code) => {
    expect(isRefusal(new ApiError({ code }, refusal))).toBe(code === 403 || code === 422);
  });

  it('are true for an ApiError only', () => {
    expect(isNotFound(Object.assign(new Error('no such file'), { status: 404 }))).toBe(false);
    expect(isGone(new ApiError({ code: 410, reason: 'Expired' }, refusal))).toBe(true);
  });
});
