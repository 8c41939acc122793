import { expect, it } from '@jest/globals';
import { ApiError, ConnectionError } from '../kubernetes/http/errors.ts';
import { againAfterMs } from './evictable.ts';

it.each([
  ['a budget that allows none now', 10, new ApiError({ status: 429, reason: 'TooManyRequests', message: '' })],
  ['a policy', 60, new ApiError({ status: 403, reason: 'Forbidden', message: '' })],
  ['a pod that changed meanwhile', 2, new ApiError({ status: 409, reason: 'Conflict', message: '' })],
  ['an API server that fails', 2, new ApiError({ status: 500, reason: 'InternalError', message: '' })],
  [
    'two budgets',
    60,
    new ApiError({ status: 500, reason: '', message: 'This pod has more than one PodDisruptionBudget, which …' }),
  ],
  ['no answer', 2, new ConnectionError('', 'TIMEOUT')],
])('an eviction that fails because of %s is tried again after %d s', (_why, seconds, error) =>
  expect(againAfterMs(error)).toBe(seconds * 1_000),
);
