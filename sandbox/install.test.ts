import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from './testing/temporary-folder.ts';

// npm takes a second or two each time, and more on a busy machine.
jest.setTimeout(60_000);

const folders = createTemporaryFolder();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(folders, 'install-'));
});

function pin(version: string): void {
  const source = join(folder, 'source', 'package');
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'tool', version }));
  const archive = `tool-${version}.tgz`;
  execFileSync('tar', ['-czf', join(folder, archive), '-C', join(folder, 'source'), 'package']);
  const integrity = `sha512-${createHash('sha512')
    .update(readFileSync(join(folder, archive)))
    .digest('base64')}`;
  const own = { name: 'own', version: '1.0.0', devDependencies: { tool: `file:${archive}` } };
  const tool = { version, resolved: `file:${archive}`, integrity, dev: true };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...own, lockfileVersion: 3, packages: { '': own, 'node_modules/tool': tool } }),
  );
}

function install(environment: NodeJS.ProcessEnv = {}) {
  // npm would find an earlier run's packages in the shared cache.
  const env = { ...process.env, npm_config_cache: join(folder, 'cache'), ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['sandbox/install.mjs', folder], {
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
}

const installed = (): unknown => JSON.parse(readFileSync(join(folder, 'node_modules', 'tool', 'package.json'), 'utf8'));
const nothing = { status: 0, stdout: '', stderr: '' };

describe('before anything runs', () => {
  it('a missing package of the lock file is installed, as is another pinned version', () => {
    pin('1.0.0');
    const first = install({ NODE_ENV: 'production' });
    expect(first).toMatchObject({ status: 0, stdout: '' });
    expect(first.stderr).toMatch(/node_modules is missing: installing the packages of package-lock\.json \(npm ci\)/);
    expect(installed()).toMatchObject({ version: '1.0.0' });
    expect(install()).toEqual(nothing);

    pin('1.1.0');
    expect(install().stderr).toMatch(/node_modules\/tool differs from package-lock\.json: installing/);
    expect(installed()).toMatchObject({ version: '1.1.0' });
    expect(install()).toEqual(nothing);
  });

  it('an interrupted installation is repeated', () => {
    pin('1.0.0');
    mkdirSync(join(folder, 'node_modules', 'tool'), { recursive: true });
    expect(install().status).toBe(0);
    expect(installed()).toMatchObject({ version: '1.0.0' });
  });

  it('packages for other platforms are not missed', () => {
    pin('1.0.0');
    install();
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as { packages: object };
    const elsewhere = { version: '1.0.0', optional: true, os: ['aix'] };
    const packages = { ...lock.packages, 'node_modules/elsewhere': elsewhere };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    expect(install()).toEqual(nothing);
  });

  it('a failed installation is an error with the message of npm', () => {
    pin('1.0.0');
    rmSync(join(folder, 'tool-1.0.0.tgz'));
    const { status, stderr } = install();
    expect(status).toBe(1);
    expect(stderr).toMatch(/tool-1\.0\.0\.tgz.*npm ci failed \(exit code \d+\); see its output above/s);
    expect(existsSync(join(folder, 'node_modules', 'tool'))).toBe(false);
  });
});
