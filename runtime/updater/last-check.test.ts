import { describe, expect, it } from '@jest/globals';
import { readCheck } from './last-check.ts';

describe('what the updater has found, as the manager tells it', () => {
  it.each([
    ['a newer version', { newest: '1.3.0', lookedAt: '1970-01-01T00:01:00Z' }, '1.2.0', '1.3.0', 60],
    ['one that runs by now', { newest: '1.3.0', lookedAt: '1970-01-01T00:01:00Z' }, '1.3.0', '', 60],
    ['nothing newer', { newest: '', lookedAt: '1970-01-01T00:01:00Z' }, '1.2.0', '', 60],
    ['nothing yet', {}, '1.2.0', '', 0],
    ['what somebody else wrote', { newest: 'a lot', lookedAt: 'never' }, '1.2.0', '', 0],
  ])('%s', (_case, data, version, newest, checkedAtSeconds) => {
    expect(readCheck(data, { version, updaterSchedule: '@daily' })).toMatchObject({ newest, checkedAtSeconds });
  });

  const found = { newest: '1.3.0', lookedAt: '2026-11-23T03:17:00Z' };
  it.each([
    ['of every day', '17 3 * * *', '2026-11-26T00:00:00Z'],
    ['of every week', '17 3 * * 1', '2026-12-02T00:00:00Z'],
    ['of every month', '@monthly', '2026-12-03T00:00:00Z'],
  ])('is due again as its schedule has it, here one %s', (_case, updaterSchedule, due) => {
    const { dueAtSeconds } = readCheck(found, { version: '1.2.0', updaterSchedule });
    expect(dueAtSeconds).toBe(Date.parse(due) / 1_000);
  });

  it('is never due where it has not looked yet, or does not run any more', () => {
    expect(readCheck({}, { version: '1.2.0', updaterSchedule: '@daily' }).dueAtSeconds).toBe(0);
    expect(readCheck(found, { version: '1.2.0', updaterSchedule: '' })).toEqual({
      ...{ newest: '1.3.0', checkedAtSeconds: 0, dueAtSeconds: 0 },
    });
  });
});
