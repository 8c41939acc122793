import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { chartMetadata } from '../../infra/helm/chart-texts.ts';
import { describeKubernetes, readTried, triedTable, type Tried } from '../../infra/generate/tried-versions.ts';
import { allComponents } from '../programs/components.ts';
import { withResults } from './result.ts';
import { chosen, shortTests, variants } from './variants.ts';

const named = (names: readonly string[], isShort = false) => chosen(names, isShort).map(({ name }) => name);

describe('the tested versions [F61]', () => {
  it.each(variants.map((each) => [each.name, each] as const))('%s is built from pinned modules', (_name, variant) => {
    for (const { name, module, ldflags } of variant.components) {
      const folder = new URL(`../programs/${module}/`, import.meta.url);
      expect(readFileSync(new URL('go.mod', folder), 'utf8')).toMatch(
        new RegExp(`^(require |\\t)\\S+ ${variant.version}$`, 'm'),
      );
      expect(readFileSync(new URL('go.sum', folder), 'utf8')).toContain(` ${variant.version} h1:`);
      expect(ldflags).toContain(variant.version.slice(1));
      expect(allComponents.map((each) => each.name)).toContain(name);
    }
  });

  it('begin with the oldest Kubernetes that the chart accepts', () => {
    expect(chartMetadata().kubeVersion).toBe(`>=${variants[0]?.name}.0-0`);
  });

  it('are selected by name, all without one, and in the short form the oldest and newest', () => {
    const all = variants.map(({ name }) => name);
    const minors = all.filter((name) => /^\d+\.\d+$/.test(name));
    expect(named([])).toEqual(all);
    expect(named([], true)).toEqual([minors.at(0), minors.at(-1)]);
    expect(named(['1.34'])).toEqual(['1.34']);
    expect(() => named(['1.29'])).toThrow(`there is no version '1.29'. Use one of: ${all.join(', ')}`);
  });

  it('have test files that exist for the short form', () => {
    expect(shortTests.filter((file) => !existsSync(`${file}.test.ts`))).toEqual([]);
  });
});

describe('the result of a run', () => {
  const run = (version: string, date = '1', failed = ['y']): Tried => ({
    program: 'Kubernetes',
    version,
    date,
    passed: 2,
    failed,
  });

  it('replaces the former one of its version, in the order of versions', () => {
    const tried = withResults([run('v1.9.0', '1'), run('v1.30.0', '1')], [run('v1.30.0', '2'), run('v1.10.0', '2')]);
    expect(tried.map(({ version, date }) => `${version} ${date}`)).toEqual(['v1.9.0 1', 'v1.10.0 2', 'v1.30.0 2']);
    expect(triedTable(tried.slice(0, 1))).toContain('| Kubernetes 1.9.0 | 2 of 3 tests | 1 |');
    const short = { ...run('v1.9.0', '1'), isShort: true };
    expect(triedTable([short])).toContain('| Kubernetes 1.9.0 | 2 of 3 tests, the short form | 1 |');
  });

  it('counts for the README if nothing failed, as a run of all tests or of their short form', () => {
    const short = ['v1.9.0', 'v1.12.0'].map((version) => ({ ...run(version, '1', []), isShort: true }));
    const whole = ['v1.10.0', 'v1.11.0'].map((version) => run(version, '1', []));
    const other = { ...run('v4.3.1', '1', []), program: 'Helm' };
    expect(describeKubernetes('1.9', [...short, ...whole, run('v1.13.0'), other])).toBe(
      'Kubernetes 1.9 or newer. The tests pass on 1.10 to 1.11. A short form of the tests passes on 1.9 to 1.12.',
    );
    expect(describeKubernetes('1.9', short)).toBe(
      'Kubernetes 1.9 or newer. A short form of the tests passes on 1.9 to 1.12.',
    );
    expect(describeKubernetes('1.9', [run('v1.13.0')])).toBe('Kubernetes 1.9 or newer.');
  });

  it('is of a tested version', () => {
    const known = variants.map(({ program, version }) => `${program} ${version}`);
    expect(readTried().filter(({ program, version }) => !known.includes(`${program} ${version}`))).toEqual([]);
  });
});
