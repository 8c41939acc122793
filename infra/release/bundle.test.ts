import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { bundle, bundlePath, ensureBundle } from './bundle.ts';

describe('the bundle', () => {
  const file = join(createTemporaryFolder(), 'main.js');
  beforeAll(() => bundle(file), 30_000);

  const run = (...args: readonly string[]) => spawnSync(process.execPath, args, { encoding: 'utf8' });

  it('has less than 0.75 MB for the manager to load at its start', () => {
    const imported = (from: string, what: RegExp) =>
      Array.from(readFileSync(from, 'utf8').matchAll(what), ([, chunk = '']) => join(file, '..', chunk));
    const [manager = ''] = imported(file, /import\("(\.\/manager-[^"]+)"\)/g);
    const files = new Set([file, manager]);
    for (const each of files) for (const chunk of imported(each, /from"(\.\/chunk-[^"]+)"/g)) files.add(chunk);
    expect(files.size).toBeGreaterThan(2);
    expect([...files].reduce((sum, each) => sum + statSync(each).size, 0)).toBeLessThan(750_000);
  });

  it('loads no unused part of Node.js, such as fetch, HTTP/2, Web Crypto or compression', () => {
    const told = 'data:text/javascript,process.on("exit",()=>console.error(String(process.moduleLoadList)))';
    const { stderr } = run(`--import=${told}`, file, 'manager');
    expect(stderr).toContain('NativeModule https');
    expect(stderr).not.toMatch(/undici|http2|webcrypto|zlib|cluster/);
  });

  it('is not built again from the same sources', async () => {
    await ensureBundle();
    const made = statSync(bundlePath).mtimeMs;
    await ensureBundle();
    expect(statSync(bundlePath).mtimeMs).toBe(made);
  });

  it('ends without a stack if the reader of its output ends first', () => {
    const line = `{ "${process.execPath}" "${file}" completion fish; echo "exits with $?" >&2; } | true`;
    const { stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
    expect(stderr).toBe('exits with 141\n');
  });

  it('refuses the settings of another release, and names the image that was not renewed', () => {
    const env = { LUMIGO_CONFIG: '{"version":"999.0.0"}', LUMIGO_POD_NAME: 'manager-0' };
    const { status, stderr } = spawnSync(process.execPath, [file, 'manager'], { encoding: 'utf8', env });
    expect(stderr).toMatch(/its settings are of 999\.0\.0\. Renew .* of controllerManager\.manager\.image/);
    expect(status).toBe(2);
  });
});
