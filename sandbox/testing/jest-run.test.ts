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
      { name: '/a/b/three.test.ts', status: 'passed', assertionResults: [] },
    ],
  });
  const first = resultOf(json);

  it('names the tests that passed and failed, and the files that did not begin', () => {
    expect(first).toEqual({
      count: 1,
      passed: ['x', 'three.test.ts'],
      failed: ['y', 'two.test.ts'],
      files: ['/a/b/one.test.ts', '/a/b/two.test.ts'],
    });
  });

  it('names apart what passed by itself; what failed again has failed', () => {
    const second = { count: 3, passed: ['x', 'two.test.ts', 'z'], failed: ['y'], files: ['/a/b/one.test.ts'] };
    const outcome = { passed: 2, failed: ['y'], onSecondTry: ['two.test.ts'] };
    expect(afterSecondTry(first, second)).toEqual(outcome);
    expect(afterSecondTry(first, first)).toEqual({ passed: 1, failed: ['y', 'two.test.ts'], onSecondTry: [] });
  });

  it('has failed by what only the second run shows, and where that did not come to the test', () => {
    const only = { count: 1, passed: ['x'], failed: ['z'], files: ['/a/b/one.test.ts'] };
    expect(afterSecondTry(first, only).failed).toEqual(['y', 'two.test.ts', 'z']);
    const none = { count: 0, passed: [], failed: ['Jest itself, which ended with 1'], files: [] };
    expect(afterSecondTry(first, none).onSecondTry).toEqual([]);
  });
});
