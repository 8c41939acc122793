import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { archivesFor, cosignVersion, envtestVersion, helmVersion, kubernetesVersion } from './archives.ts';
import { allComponents } from './components.ts';

const machines = ['linux', 'darwin'].flatMap((platform) => ['x64', 'arm64'].map((each) => [platform, each] as const));
const names = new Set(allComponents.map(({ name }) => name));
const getMinor = (version: string): string => version.split('.').slice(0, 2).join('.');
const moduleVersion = (folder: string, path: string): string => {
  const pinned = readFileSync(new URL(`${folder}/go.mod`, import.meta.url), 'utf8');
  return new RegExp(`${path} (v\\S+)`).exec(pinned)?.[1] ?? '';
};

describe('the fetched archives', () => {
  it.each(machines)('contain the programs of a control plane: %s, %s', (platform, architecture) => {
    const programs = archivesFor(platform, architecture).flatMap((each) => each.programs);
    expect(programs).toEqual(expect.arrayContaining(['etcd', 'kube-apiserver', 'kubectl', 'helm']));
    expect(programs.includes('kube-controller-manager')).toBe(platform === 'linux');
    expect(programs.filter((name) => !names.has(name))).toEqual([]);
    expect(new Set(programs).size).toBe(programs.length);
  });

  it('have a checksum each, of the right length, and a secure address with the version', () => {
    const all = machines.flatMap(([platform, architecture]) => archivesFor(platform, architecture));
    expect(new Set(all.map(({ checksum }) => checksum.digest)).size).toBe(all.length);
    expect(new Set(all.map(({ file }) => file)).size).toBe(all.length);
    for (const { url, checksum } of all) {
      expect(checksum.digest).toMatch(checksum.algorithm === 'sha512' ? /^[0-9a-f]{128}$/ : /^[0-9a-f]{64}$/);
      expect(url).toMatch(/^https:\/\/.+v\d+\.\d+\.\d+/);
    }
  });

  it('do not exist for a platform without a publisher', () => {
    expect(archivesFor('win32', 'x64')).toEqual([]);
    expect(archivesFor('linux', 'riscv64')).toEqual([]);
  });

  it('have the versions of the modules, and the API server the same minor version', () => {
    expect(moduleVersion('kubernetes', 'k8s.io/kubernetes')).toBe(kubernetesVersion);
    expect(moduleVersion('helm', 'helm.sh/helm/v3')).toBe(helmVersion);
    expect(moduleVersion('cosign', 'github.com/sigstore/cosign/v2')).toBe(cosignVersion);
    expect(getMinor(envtestVersion)).toBe(getMinor(kubernetesVersion));
  });
});
