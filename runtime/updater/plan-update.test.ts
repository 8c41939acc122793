import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { gt, rsort, satisfies } from 'semver';
import { planUpdate, toConstraints, type Revision } from './plan-update.ts';

type UpdateInput = Parameters<typeof planUpdate>[0];

const chart = 'oci://charts.example/lumigo-operator';
const deployed = (version: string, revision = 1): Revision => ({ revision, status: 'deployed', version });
const plan = (more: Partial<UpdateInput>) =>
  planUpdate({
    installed: '1.2.0',
    release: 'lumigo',
    namespace: 'lumigo-system',
    chart,
    history: [deployed('1.2.0')],
    available: ['1.2.0'],
    versions: '',
    ...more,
  });

describe('an update', () => {
  const available = ['1.2.0', '1.3.0', '1.10.0', '1.9.9', '2.0.0', '1.11.0-rc.1', 'not a version'];

  it.each([
    ['', '1.10.0'],
    ['>=2', '2.0.0'],
    ['~1.2.0', undefined],
    ['^1.11.0-rc.0', '1.11.0-rc.1'],
  ])('within %j is to %s', (versions, newest) => expect(plan({ available, versions }).newest).toBe(newest));

  it('says why it is due', () => {
    expect(plan({ available })).toEqual({
      outcome: 'operatorUpdated',
      newest: '1.10.0',
      message: '1.10.0 is newer than 1.2.0 and within >=1.2.0 <2.0.0-0',
    });
  });

  it('is not due if there is nothing newer, and names a version outside the range', () => {
    expect(plan({ available: ['1.0.0', '1.2.0', '2.0.0'] })).toEqual({
      outcome: 'operatorUpToDate',
      message:
        '1.2.0 is installed. There is no newer version within >=1.2.0 <2.0.0-0. The repository also has 2.0.0, which is outside this range',
    });
    expect(plan({ available: [] }).outcome).toBe('operatorUpToDate');
  });

  it('is not tried again after a failure, until there is something newer', () => {
    const failed = { revision: 2, status: 'failed', version: '1.3.0' };
    const history = [{ revision: 1, status: 'superseded', version: '1.2.0' }, failed, deployed('1.2.0', 3)];
    expect(plan({ history, available: ['1.2.0', '1.3.0'] })).toEqual({
      outcome: 'operatorUpToDate',
      newest: '1.3.0',
      message: expect.stringContaining(
        '1.3.0 was installed before (revision 2, failed), so the updater does not install it again',
      ),
    });
    expect(plan({ history, available: ['1.3.0', '1.3.1'] }).newest).toBe('1.3.1');
  });

  it('is not repeated after a rollback, and no version of the original operator is compared', () => {
    const left = { revision: 2, status: 'superseded', version: '1.3.0' };
    const history = [{ revision: 1, status: 'failed', version: '69' }, left, deployed('1.2.0', 3)];
    expect(plan({ history, available: ['1.3.0'] })).toMatchObject({ outcome: 'operatorUpToDate', newest: '1.3.0' });
    expect(plan({ history, available: ['1.3.1'] })).toMatchObject({ outcome: 'operatorUpdated', newest: '1.3.1' });
    expect(plan({ history, available: ['1.3.0', '1.2.1'] })).toMatchObject({
      outcome: 'operatorUpdated',
      newest: '1.2.1',
    });
  });

  it('stays within the minor version while the major version is 0, because settings may change', () => {
    const zero = { installed: '0.1.0', history: [deployed('0.1.0')], available: ['0.1.1', '0.2.0', '1.0.0'] };
    expect(plan(zero).newest).toBe('0.1.1');
    expect(plan({ ...zero, versions: '0.x' }).newest).toBe('0.2.0');
  });

  it.each([
    ['', '>=1.2.0 <2.0.0 !=1.3.0 !=1.4.0', '>=1.2.0 <2.0.0', '>=1.2.0 <2.0.0-0'],
    ['*', '* !=1.3.0 !=1.4.0', '*'],
    ['~1.9.0', '>=1.9.0 <1.10.0', '>=1.9.0 <1.10.0-0'],
    ['1.6.0-rc.1', '1.6.0-rc.1'],
    [
      '<1.4 || ^1.5.0-rc.0',
      '<1.4.0 !=1.3.0||>=1.5.0 <2.0.0',
      '<1.4.0||>=1.5.0 <2.0.0',
      '<1.4.0-0||>=1.5.0-rc.0 <2.0.0-0',
    ],
  ])('within %j asks Helm once for each: the newest stable version that was not left, and the newest', (...row) => {
    const [versions, ...asked] = row as [string, ...string[]];
    const history = ['69', '1.1.0', '1.3.0', '1.4.0', '1.3.0', '1.5.0-rc.1', '1.2.0'].map((each) => deployed(each));
    expect(toConstraints('1.2.0', versions, history)).toEqual(asked);
  });

  it('asks without the versions that were left if Helm would refuse the length', () => {
    const asked = (length: number, ...more: string[]) =>
      toConstraints(
        '1.2.0',
        '',
        [...Array.from({ length }, (_, patch) => `1.30.${patch}`), ...more].map((each) => deployed(each)),
      );
    expect(asked(51)).toEqual(['>=1.2.0 <2.0.0', '>=1.2.0 <2.0.0-0']);
    expect(asked(50)[0]).toHaveLength(504);
    expect(asked(50, '1.9.0')[0]).toHaveLength(512);
    expect(asked(50, '1.10.0')[0]).toBe('>=1.2.0 <2.0.0');
  });

  it.each([
    [
      'pending-upgrade',
      'superseded',
      /another operation on release 'lumigo' is under way \(revision 2 is pending-upgrade\)/,
    ],
    ['pending-rollback', 'superseded', /under way/],
    ['failed', 'deployed', /revision 2 of release 'lumigo' is failed, so the updater does not upgrade it/],
    ['uninstalled', 'superseded', /so the updater does not upgrade it/],
  ])('is refused if the last revision is %s, with the command that repairs the release', (status, before, expected) => {
    const history = [
      { revision: 1, status: before, version: '1.2.0' },
      { revision: 2, status, version: '1.3.0' },
    ];
    const { outcome, message } = plan({ history, available: ['1.4.0'] });
    expect(outcome).toBe('cannotUpdateOperator');
    expect(message).toMatch(expected);
    expect(message).toContain('helm rollback lumigo 1 --namespace lumigo-system');
  });

  it.each([
    ['superseded', 'failed', /it\. To continue, repeat it by helm upgrade, or run: helm rollback/],
    ['superseded', 'uninstalled', /it\. To continue, run: helm rollback/],
    ['failed', 'failed', /it\. To continue, repeat it by helm upgrade, or repair the release/],
  ])('says after %s and %s how to continue, for a rollback leaves a version for good', (before, status, expected) => {
    const history = [
      { revision: 1, status: before, version: '1.2.0' },
      { revision: 2, status, version: '1.3.0' },
    ];
    expect(plan({ history, available: ['1.3.0'] }).message).toMatch(expected);
  });

  it('is refused if a version or the range cannot be compared', () => {
    const refused = (text: string) => ({ outcome: 'cannotUpdateOperator', message: expect.stringContaining(text) });
    expect(plan({ versions: 'newest' })).toEqual(refused("'newest' is not a range"));
    expect(plan({ installed: '69', history: [deployed('69')] })).toEqual(refused("'69' is not a semantic version"));
    expect(plan({ installed: 'dev', history: undefined })).toEqual(refused("'dev' is not a semantic version"));
  });

  it('is refused if the release is that of a parent chart, with its name and the mode that works', () => {
    const installed = 'platform-4.5.6';
    const why = 'not a semantic version, so the updater cannot compare it';
    const refusal = plan({ installed, release: 'platform', history: [deployed(installed)] });
    expect(refusal.outcome).toBe('cannotUpdateOperator');
    expect(refusal.message).toMatch(`the installed version '${installed}' is ${why}`);
    expect(refusal.message).toMatch(/\. If a parent chart installed the operator, set updater\.mode to check$/);
  });

  it('is to the newest version within the range, and never to an older one', () => {
    const version = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(
        version,
        fc.array(version),
        fc.constantFrom('', '*', '^1.0.0', '<2'),
        (installed, available, versions) => {
          const { newest } = plan({ installed, history: [deployed(installed)], available, versions });
          const range = versions || `^${installed}`;
          const [expected] = rsort(available.filter((each) => gt(each, installed) && satisfies(each, range)));
          expect(newest).toBe(expected);
        },
      ),
    );
  });
});

describe('a check', () => {
  const check = (more: Partial<UpdateInput>) =>
    plan({ history: undefined, available: ['1.2.0', '1.3.0', '2.0.0'], ...more });

  it.each([undefined, 'lumigo', 'platform'])(
    'reports the newest version in the range, without a command that could replace the release %s',
    (release) => {
      expect(check({ release })).toEqual({
        outcome: 'operatorUpdateAvailable',
        newest: '1.3.0',
        message: '1.3.0 is newer than 1.2.0 and within >=1.2.0 <2.0.0-0. Install it as 1.2.0 was installed',
      });
      expect(check({ release, versions: '*' }).newest).toBe('2.0.0');
    },
  );
});
