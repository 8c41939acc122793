import { describe, expect, it } from '@jest/globals';
import { afterSecondTry, resultOf } from './jest-run.ts';

const assertion = (fullName: string, status: string) => ({ fullName, status });

describe('what came of a run', () => {
  const json = JSON.stringify({
    numPassedTests: 1,
    testResults: [
      {
        name: '/a/b/one.test.ts',
        status: 'failed',
        assertionResults: [assertion('x', 'passed'), assertion('y', 'failed')],
      },
      { name: '/a/b/two.test.ts', status: 'failed', assertionResults: [] },
    ],
  });
  const first = resultOf(json);

  it('names the tests that failed, and files that did not begin', () => {
    expect(first).toEqual({ passed: 1, failed: ['y', 'two.test.ts'], files: ['/a/b/one.test.ts', '/a/b/two.test.ts'] });
  });

  it('names apart what passed by itself; what failed again has failed', () => {
    const second = { passed: 1, failed: ['y'], files: ['/a/b/one.test.ts'] };
    expect(afterSecondTry(first, second)).toEqual({ passed: 2, failed: ['y'], onSecondTry: ['two.test.ts'] });
    expect(afterSecondTry(first, first)).toEqual({ passed: 1, failed: ['y', 'two.test.ts'], onSecondTry: [] });
  });

  it('has failed by what only the second run shows', () => {
    const second = { passed: 0, failed: ['z'], files: ['/a/b/one.test.ts'] };
    expect(afterSecondTry(first, second).failed).toEqual(['z']);
  });
});
