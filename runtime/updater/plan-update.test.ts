import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { gt, satisfies } from 'semver';
import { planCheck, planUpdate, rangeOf, type Revision } from './plan-update.ts';

type UpdateInput = Parameters<typeof planUpdate>[0];

const deployed = (version: string, revision = 1): Revision => ({ revision, status: 'deployed', version });
const input = (more: Partial<UpdateInput>): UpdateInput => ({
  release: 'lumigo',
  namespace: 'lumigo-system',
  history: [deployed('1.2.0')],
  available: ['1.2.0'],
  versions: '',
  chart: 'lumigo/lumigo-operator',
  ...more,
});

describe('the update plan', () => {
  it('takes the newest version within the range', () => {
    const available = ['1.2.0', '1.3.0', '1.10.0', '1.9.9', '2.0.0', '1.11.0-rc.1', 'not a version'];
    expect(planUpdate(input({ available }))).toEqual({
      step: 'upgrade',
      newest: '1.10.0',
      message: '1.10.0 is newer than 1.2.0 and within >=1.0.0 <2.0.0-0',
    });
    expect(planUpdate(input({ available, versions: '>=2' })).newest).toBe('2.0.0');
    expect(planUpdate(input({ available, versions: '~1.2.0' })).step).toBe('stay');
    expect(planUpdate(input({ available, versions: '^1.11.0-rc.0' })).newest).toBe('1.11.0-rc.1');
  });

  it('stays where there is nothing newer, and says what is outside of the range', () => {
    expect(planUpdate(input({ available: ['1.0.0', '1.2.0', '2.0.0'] }))).toEqual({
      step: 'stay',
      message:
        '1.2.0 is installed. There is no newer version within >=1.0.0 <2.0.0-0. The repository also has 2.0.0, which is outside this range',
    });
    expect(planUpdate(input({ available: [] })).step).toBe('stay');
  });

  it('does not try again what failed before, until there is something newer', () => {
    const history = [
      { revision: 1, status: 'superseded', version: '1.2.0' },
      { revision: 2, status: 'failed', version: '1.3.0' },
      deployed('1.2.0', 3),
    ];
    const plan = planUpdate(input({ history, available: ['1.2.0', '1.3.0'] }));
    expect(plan.step).toBe('stay');
    expect(plan.message).toContain('1.3.0 failed before (revision 2), so the updater does not try it again');
    expect(plan.newest).toBe('1.3.0');
    expect(planUpdate(input({ history, available: ['1.3.0', '1.3.1'] })).newest).toBe('1.3.1');
  });

  it.each([
    ['pending-upgrade', /another operation on release 'lumigo' is under way \(revision 2 is pending-upgrade\)/],
    ['pending-rollback', /under way/],
    ['failed', /revision 2 of release 'lumigo' is failed, so the updater does not upgrade it/],
    ['uninstalled', /so the updater does not upgrade it/],
  ])('refuses a release whose last revision is %s, and says what mends it', (status, message) => {
    const history = [
      { revision: 1, status: 'superseded', version: '1.2.0' },
      { revision: 2, status, version: '1.3.0' },
    ];
    const plan = planUpdate(input({ history, available: ['1.4.0'] }));
    expect(plan.step).toBe('refuse');
    expect(plan.message).toMatch(message);
    expect(plan.message).toContain('helm rollback lumigo 1 --namespace lumigo-system');
  });

  it('refuses what it cannot compare', () => {
    expect(planUpdate(input({ versions: 'newest' })).message).toContain("'newest' is not a range");
    expect(planUpdate(input({ history: [deployed('69')] })).step).toBe('refuse');
    expect(planUpdate(input({ history: [] })).step).toBe('refuse');
  });

  it('never goes back, and never out of the range, whatever there is', () => {
    const version = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(
        version,
        fc.array(version),
        fc.constantFrom('', '*', '^1.0.0', '<2'),
        (installed, available, versions) => {
          const { newest: to } = planUpdate(input({ history: [deployed(installed)], available, versions }));
          if (to === undefined) return;
          expect(available).toContain(to);
          expect(gt(to, installed)).toBe(true);
          if (versions !== '') expect(satisfies(to, versions)).toBe(true);
        },
      ),
    );
  });
});

describe('the plan of a check', () => {
  const check = (more: Partial<Parameters<typeof planCheck>[0]>) =>
    planCheck({
      ...{ installed: '1.2.0', available: ['1.2.0', '1.3.0', '2.0.0'], versions: '', release: undefined },
      ...{ chart: 'oci://charts.example/lumigo-operator', namespace: 'lumigo-system' },
      ...more,
    });

  it('tells of the newest version within the range, and how it is brought', () => {
    expect(check({})).toEqual({
      step: 'tell',
      newest: '1.3.0',
      message: '1.3.0 is newer than 1.2.0 and within >=1.0.0 <2.0.0-0. To upgrade: apply the manifests of that version',
    });
    expect(check({ release: 'lumigo', versions: '*' }).message).toMatch(
      /\. To upgrade: helm upgrade lumigo oci:\/\/charts\.example\/lumigo-operator --version 2\.0\.0 --namespace lumigo-system --reset-then-reuse-values$/,
    );
  });

  it('has nothing to tell where nothing is newer', () => {
    const plan = check({ available: ['1.1.0', '1.2.0'] });
    expect([plan.step, plan.newest]).toEqual(['stay', undefined]);
  });

  it('refuses what it cannot compare', () => {
    expect(check({ installed: 'dev' })).toMatchObject({ step: 'refuse', message: expect.stringContaining("'dev'") });
    expect(check({ versions: 'newest' }).step).toBe('refuse');
  });
});

describe('the range of an update', () => {
  it.each([
    ['1.2.3', '', '>=1.0.0 <2.0.0-0'],
    ['1.2.3', '~1.2', '>=1.2.0 <1.3.0-0'],
    ['1.2.3', 'newest', undefined],
    ['dev', '', undefined],
  ])('of %s and %s is %s', (installed, versions, range) => expect(rangeOf(installed, versions)).toBe(range));
});
