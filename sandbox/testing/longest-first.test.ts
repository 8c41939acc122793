import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';

interface Sequencer {
  shard<T>(tests: readonly T[], shard: { readonly shardIndex: number; readonly shardCount: number }): T[];
}
// Jest reads the file as it is, so it has no types.
const file = './longest-first.js';
const { default: LongestFirst } = (await import(file)) as { default: new () => Sequencer };

const tests = ['runtime', 'infra', 'sandbox'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.cluster.test.ts'))
    .map((path) => ({ path: resolve(folder, path) })),
);
const getShard = (shardIndex: number): string[] =>
  new LongestFirst().shard(tests, { shardIndex, shardCount: 3 }).map(({ path }) => path);

describe('the shards of the tests against an API server', () => {
  const shards = [1, 2, 3].map(getShard);

  it('have each file once', () => expect(shards.flat().toSorted()).toEqual(tests.map(({ path }) => path).toSorted()));

  it('share the files that take longest', () => {
    const longest = ['project/readme', 'faults/api-server', 'faults/operator'];
    const holders = longest.map((name) => shards.findIndex((shard) => shard.some((path) => path.includes(name))));
    expect(holders.toSorted()).toEqual([0, 1, 2]);
  });

  it('are those that Jest runs', () => {
    const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
    const args = [...jest, '--listTests', '--shard=2/3', '--selectProjects', 'cluster'];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const listed = stdout.split('\n').filter((line) => line.endsWith('.test.ts'));
    expect(listed.toSorted()).toEqual(getShard(2).toSorted());
  });
});
