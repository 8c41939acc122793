import { describe, expect, it } from '@jest/globals';
import type { LumigoResource } from '../api/lumigo.ts';
import type { MonitoredEntry } from '../config/config.ts';
import { findEntry, formatMark, getSecretRef, parseMark, planMonitoring } from './plan-monitoring.ts';

const usual = { name: 'lumigo-credentials', key: 'token' };

describe('findEntry [F54]', () => {
  const shop = { name: 'shop', labels: { team: 'a', tier: 'web' } };

  it.each<[string, MonitoredEntry, boolean]>([
    ['its name', { namespace: 'shop' }, true],
    ["another's name", { namespace: 'bank' }, false],
    ['its labels', { selector: { matchLabels: { team: 'a', tier: 'web' } } }, true],
    ['one label that it has, and one that it has not', { selector: { matchLabels: { team: 'a', tier: 'db' } } }, false],
    ['no label at all', { selector: {} }, true],
    ['neither a name nor a selector', {}, false],
  ])('finds a namespace by %s: %j, %s', (_case, entry, found) => {
    expect(findEntry([entry], shop)).toBe(found ? entry : undefined);
  });

  it('prefers an entry that names the namespace to one that selects it', () => {
    const named = { namespace: 'shop', loggingEnabled: false };
    expect(findEntry([{ selector: {} }, named], shop)).toBe(named);
  });
});

describe('planMonitoring [F54]', () => {
  const lumigo = (spec: LumigoResource['spec'], name = 'lumigo') =>
    ({ metadata: { name }, spec }) as unknown as LumigoResource;

  it('creates one as its entry says', () => {
    const entry = { secretName: 'own', secretKey: 'key', tracingEnabled: false, loggingEnabled: false };
    expect(planMonitoring(entry, [], getSecretRef(entry, usual))).toEqual({
      kind: 'create',
      spec: {
        lumigoToken: { secretRef: { name: 'own', key: 'key' } },
        tracing: { enabled: false },
        logging: { enabled: false },
      },
    });
  });

  it('creates one with traces and logs, unless its entry says otherwise', () => {
    const enabled = { tracing: { enabled: true }, logging: { enabled: true } };
    expect(planMonitoring({}, [], usual)).toMatchObject({ spec: { ...enabled, lumigoToken: { secretRef: usual } } });
  });

  it('notes what the entry says, and if the namespace still needs a token', () => {
    expect(parseMark(formatMark({ loggingEnabled: false }))).toEqual({ loggingEnabled: false });
    expect(parseMark(formatMark({}, true))).toEqual({ needsToken: true });
  });

  const none = { kind: 'none' };
  const logs = [lumigo({ logging: { enabled: true } })];
  const own = [lumigo({ logging: { enabled: true } }, 'own')];
  const withoutLogs = { kind: 'patch', spec: { tracing: undefined, logging: { enabled: false } } };
  it.each<[string, MonitoredEntry, readonly LumigoResource[], object]>([
    ['leaves one that is there as it is', {}, [lumigo({ logging: { enabled: false } })], none],
    ['leaves one that says the same', { loggingEnabled: true }, logs, none],
    ['carries over what its entry says expressly', { loggingEnabled: false }, logs, withoutLogs],
    ['leaves one of another name', { loggingEnabled: false }, own, none],
  ])('%s', (_case, entry, there, expected) => {
    expect(planMonitoring(entry, there, usual)).toEqual(expected);
  });

  const on = [lumigo({ tracing: { enabled: true }, logging: { enabled: true } })];
  it.each<[string, MonitoredEntry, readonly LumigoResource[], string, object]>([
    ['creates no second Lumigo', {}, [], formatMark({}), none],
    ['creates none if a flag changes', { loggingEnabled: true }, [], formatMark({}), none],
    ['sets no flag again', { loggingEnabled: false }, on, formatMark({ loggingEnabled: false }), none],
    [
      'sets a flag that the settings change',
      { loggingEnabled: false, tracingEnabled: false },
      on,
      formatMark({ loggingEnabled: false, tracingEnabled: true }),
      { kind: 'patch', spec: { tracing: { enabled: false }, logging: undefined } },
    ],
    ['sets all flags if the mark is null', { loggingEnabled: false }, on, 'null', withoutLogs],
  ])('%s in a namespace that got its Lumigo before [F70]', (_case, entry, there, mark, expected) => {
    expect(planMonitoring(entry, there, usual, mark)).toEqual(expected);
  });
});
