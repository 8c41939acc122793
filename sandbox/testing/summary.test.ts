import { expect, it } from '@jest/globals';

const reporter = './summary.js';
const { getOutcome } = (await import(reporter)) as { getOutcome: (results: object, code: number) => object };
const message = 'Error: \u001b[2mexpected\u001b[22m\n\nExpected: 1\n    at run (/a/b/one.test.ts:1:1)\n    at more';
const getTest = (fullName: string, status: string) => ({ fullName, status, failureMessages: [message] });

it('names the tests that failed with their errors, and the files whose tests did not begin', () => {
  const testResults = [
    { testFilePath: '/a/b/one.test.ts', testResults: [getTest('x', 'passed'), getTest('y', 'failed')] },
    { testFilePath: '/a/b/two.test.ts', testResults: [], testExecError: { message: 'a wrong import' } },
    { testFilePath: '/a/b/three.test.ts', testResults: [getTest('z', 'passed')] },
  ];
  const results = { numPassedTests: 2, numTotalTestSuites: 3, testResults };
  expect(getOutcome(results, 0)).toEqual({ passed: 2, failed: ['y: Error: expected | Expected: 1', 'two.test.ts'] });
});

it.each([
  ['crashes between two files', 1, 2, 1, 'Jest itself, which ended with 1 after 1 of 2 files'],
  ['ends between two files', 1, 2, 0, 'Jest itself, which ended with 0 after 1 of 2 files'],
  ['crashes after the last file', 1, 1, 1, 'Jest itself, which ended with 1 after 1 of 1 files'],
  ['skips all tests', 0, 1, 0, 'No test fits. Pass a part of its path or name'],
])('names the failure if Jest %s', (_title, passed, files, code, name) => {
  const testResults = [{ testFilePath: '/a/b/one.test.ts', testResults: [getTest('x', 'passed')] }];
  const results = { numPassedTests: passed, numTotalTestSuites: files, testResults };
  expect(getOutcome(results, code)).toEqual({ passed, failed: [name] });
});
