import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { prepare, readLoopKeys, writeWhole } from './files.ts';

const folder = createTemporaryFolder();

describe('the start of a manager', () => {
  it('ends the collection of the former one, and still accepts the data of nodes', () => {
    let count = 0;
    fc.assert(
      fc.property(settings, (given) => {
        const telemetryProxyDirectory = join(folder, String((count += 1)));
        mkdirSync(telemetryProxyDirectory);
        const own = { ...given, telemetryProxyDirectory };
        prepare(own);
        const before = readLoopKeys(own);
        prepare(own);
        const { key, nodeKey } = readLoopKeys(own);
        expect(key).not.toBe(before.key);
        expect(nodeKey).toBe(before.nodeKey);
        expect(new Set([key, nodeKey, ''])).toHaveProperty('size', 3);
      }),
      { numRuns: 5 },
    );
  });
});

it('a file is replaced as a whole: a reader of the former one still reads all of it', () => {
  const file = join(folder, 'whole');
  writeWhole(file, 'the former text');
  const former = openSync(file, 'r');
  const { ino } = statSync(file);
  writeWhole(file, 'new');
  expect([readFileSync(former, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['the former text', 'new']);
  closeSync(former);
  expect(statSync(file).ino).not.toBe(ino);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
