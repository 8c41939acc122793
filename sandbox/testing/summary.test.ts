import { expect, it } from '@jest/globals';

const getTest = (fullName: string, status: string) => ({ fullName, status });

it('names the tests that failed, and the files whose tests did not begin', async () => {
  const testResults = [
    { testFilePath: '/a/b/one.test.ts', testResults: [getTest('x', 'passed'), getTest('y', 'failed')] },
    { testFilePath: '/a/b/two.test.ts', testResults: [], testExecError: { message: 'a wrong import' } },
    { testFilePath: '/a/b/three.test.ts', testResults: [getTest('z', 'passed')] },
  ];
  const reporter = './summary.js';
  const { getOutcome } = (await import(reporter)) as { getOutcome: (results: object) => object };
  expect(getOutcome({ numPassedTests: 2, testResults })).toEqual({ passed: 2, failed: ['y', 'two.test.ts'] });
});
