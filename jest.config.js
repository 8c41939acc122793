import { availableParallelism } from 'node:os';

/** There are two kinds of tests (CONTRIBUTING.md): of pure functions, and against a real API server. */
const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
};

/** Tests that need the machine to themselves. They run after those of the other projects. */
const alone = { runner: '<rootDir>/sandbox/testing/alone.js' };

export default {
  // Longer than the waits within a test together, on a busy machine too: a wait that fails says more than this limit.
  testTimeout: 300_000,
  coverageProvider: 'v8',
  collectCoverageFrom: ['{runtime,infra}/**/*.ts'],
  // Tests against an API server wait for two thirds of their time. Six control planes at once are the most.
  maxWorkers: Math.min(6, 3 * availableParallelism()),
  // All concurrent tests of a file start at once, because they mostly wait for pods.
  maxConcurrency: 12,
  testSequencer: '<rootDir>/sandbox/testing/longest-first.js',
  reporters: ['default', '<rootDir>/sandbox/testing/summary.js'],
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/{runtime,infra,sandbox,bench}/**/*.test.ts'],
      testPathIgnorePatterns: ['\\.(cluster|load|e2e|gitops|machine)\\.test\\.ts$'],
    },
    {
      ...common,
      displayName: 'cluster',
      testMatch: ['<rootDir>/{runtime,infra,sandbox}/**/*.cluster.test.ts'],
    },
    {
      ...common,
      ...alone,
      displayName: 'load',
      testMatch: ['<rootDir>/runtime/**/*.load.test.ts'],
    },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/sandbox/e2e/*.e2e.test.ts'],
    },
    {
      ...common,
      displayName: 'gitops',
      testMatch: ['<rootDir>/sandbox/{flux,e2e}/*.gitops.test.ts'],
    },
    {
      ...common,
      ...alone,
      displayName: 'machine',
      testMatch: ['<rootDir>/sandbox/e2e/*.machine.test.ts'],
    },
  ],
};
