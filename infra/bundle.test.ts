import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from './bundle.ts';

describe('the bundle', () => {
  let file = '';
  beforeAll(async () => {
    file = join(mkdtempSync(join(tmpdir(), 'lumigo-bundle-')), 'main.js');
    await bundle(file);
  });
  afterAll(() => rmSync(join(file, '..'), { recursive: true }));

  it('has less than 1.2 MB to be loaded at the start', () => {
    expect(statSync(file).size).toBeLessThan(1_200_000);
  });

  it('is a program by itself', () => {
    const { status, stdout } = spawnSync(process.execPath, [file, '--help'], { encoding: 'utf8' });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('--preview') });
  });
});
