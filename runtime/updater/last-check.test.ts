import { describe, expect, it } from '@jest/globals';
import { readCheck } from './last-check.ts';

describe('what the updater has found, as the manager tells it', () => {
  it.each([
    ['a newer version', { newest: '1.3.0', lookedAt: '1970-01-01T00:01:00Z' }, '1.2.0', '1.3.0', 60],
    ['one that runs by now', { newest: '1.3.0', lookedAt: '1970-01-01T00:01:00Z' }, '1.3.0', '', 60],
    ['nothing newer', { newest: '', lookedAt: '1970-01-01T00:01:00Z' }, '1.2.0', '', 60],
    ['nothing yet', {}, '1.2.0', '', 0],
    ['what somebody else wrote', { newest: 'a lot', lookedAt: 'never' }, '1.2.0', '', 0],
  ])('%s', (_case, data, running, newest, checkedAtSeconds) => {
    expect(readCheck(data, running)).toEqual({ newest, checkedAtSeconds });
  });
});
