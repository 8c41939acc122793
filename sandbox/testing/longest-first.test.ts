import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';

/** Asks Jest itself. @param flags for example `--shard=1/4` */
function listTests(...flags: readonly string[]): string[] {
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const args = [...jest, '--listTests', ...flags, '--selectProjects', 'cluster'];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.endsWith('.test.ts'));
}

describe('the shards of the tests against an API server', () => {
  const shards = [1, 2, 3].map((index) => listTests(`--shard=${index}/3`));

  it('have each file once', () => expect(shards.flat().toSorted()).toEqual(listTests().toSorted()));

  it('share the files that take longest', () => {
    const longest = ['faults/api-server', 'faults/operator', 'telemetry-proxy/tenants'];
    const holders = longest.map((name) => shards.findIndex((shard) => shard.some((file) => file.includes(name))));
    expect(holders.toSorted()).toEqual([0, 1, 2]);
  });
});
