import { expect, it } from '@jest/globals';
import { getOutcome } from './jest-run.ts';

const assertion = (fullName: string, status: string) => ({ fullName, status });

it('names the tests that failed, and the files whose tests did not begin', () => {
  const testResults = [
    {
      name: '/a/b/one.test.ts',
      status: 'failed',
      assertionResults: [assertion('x', 'passed'), assertion('y', 'failed')],
    },
    { name: '/a/b/two.test.ts', status: 'failed', assertionResults: [] },
    { name: '/a/b/three.test.ts', status: 'passed', assertionResults: [assertion('z', 'passed')] },
  ];
  const report = JSON.stringify({ numPassedTests: 2, testResults });
  expect(getOutcome(report)).toEqual({ passed: 2, failed: ['y', 'two.test.ts'] });
});
