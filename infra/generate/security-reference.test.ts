import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPermissions } from '../../runtime/access/check-permissions.ts';
import { permissions } from '../../runtime/access/permissions.ts';
import { withTables } from './security-reference.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('the security pages', () => {
  const document = read('docs/security/README.md');

  it('have every right and every port as the constructs have them', () => {
    expect(withTables(document)).toBe(document);
    expect(withTables(document.replaceAll('`lumigoes/status`', 'another'))).toBe(document);
  });

  it('report a table whose place in the page no longer exists', () => {
    expect(() => withTables(document.replace('<!-- ports: generated -->', ''))).toThrow(
      'docs/security/README.md has no <!-- ports: generated --> with <!-- /ports --> after it',
    );
  });

  it('name tests that exist', () => {
    const all = [...Object.values(permissions), ...Object.values(checkPermissions)];
    const named = all.flatMap((rules) => rules.map(({ test }) => test));
    expect(named.filter((test) => !existsSync(join('runtime', test)))).toEqual([]);
  });
});

describe('the Dockerfile', () => {
  it('pins each base image to its content', () => {
    const lines = read('Dockerfile').split('\n');
    const stages = lines.flatMap((line) => / AS (\S+)$/.exec(line)?.[1] ?? []);
    const bases = lines
      .filter((line) => /^(FROM|ARG BASE=)/.test(line))
      .map((line) => line.replace(/^(FROM (--platform=\S+ )?|ARG BASE=)/, '').replace(/ AS .*/, ''))
      .filter((base) => !['${BASE}', 'scratch', ...stages].includes(base));
    expect(bases).toHaveLength(3);
    for (const base of bases) expect(base).toMatch(/:[-.a-z0-9]+@sha256:[0-9a-f]{64}$/);
  });

  it('closes the inspector of Node.js to signals, for the manager and for kubectl exec [F62]', () => {
    const dockerfile = read('Dockerfile');
    expect(dockerfile.match(/^ENTRYPOINT .*/gm)).toEqual([
      expect.stringMatching(/^ENTRYPOINT \["\/nodejs\/bin\/node", "--disable-sigusr1", .*"\/app\/main.js"\]$/),
    ]);
    expect(dockerfile.match(/^ENV NODE_OPTIONS.*/gm)).toEqual(['ENV NODE_OPTIONS=--disable-sigusr1']);
  });
});

describe('npm run sbom', () => {
  it('lists every package that the operator depends on, with its version', () => {
    const { stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    const { bomFormat, components } = JSON.parse(stdout) as {
      bomFormat: string;
      components: readonly { purl: string }[];
    };
    expect(bomFormat).toBe('CycloneDX');
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Readonly<Record<string, string>> };
    const wanted = Object.entries(dependencies).map(
      ([name, version]) => `pkg:npm/${name.replace('@', '%40')}@${version}`,
    );
    expect(components.map(({ purl }) => purl)).toEqual(expect.arrayContaining(wanted));
  });
});
