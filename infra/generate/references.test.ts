import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPermissions } from '../../runtime/access/check-permissions.ts';
import { permissions } from '../../runtime/access/permissions.ts';
import { conditionTypes } from '../../runtime/api/conditions.ts';
import { events } from '../../runtime/api/events.ts';
import { annotations } from '../../runtime/contract.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import { instrumented } from '../../sandbox/testing/injection.ts';
import { withChart } from '../helm/installation-texts.ts';
import { settingsReference } from '../settings/settings-reference.ts';
import { settingEntries } from '../settings/tree.ts';
import { withGenerated } from './generated-parts.ts';
import { labelsReference } from './labels-reference.ts';
import { references } from './references.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('a generated page', () => {
  it('has a link in the list of pages', () => {
    const index = read('docs/README.md');
    const missing = Object.keys(references).filter((file) => !index.includes(`](${file.replace('docs/', '')})`));
    expect(missing).toEqual([]);
  });
});

describe('a part of a page', () => {
  const parts = { ports: 'new' };

  it('is replaced between its marks', () => {
    expect(withGenerated('a.md', '<!-- ports: generated -->\nold\n<!-- /ports -->\n', parts)).toBe(
      '<!-- ports: generated -->\nnew\n<!-- /ports -->\n',
    );
  });

  it('is reported if its place in the page no longer exists', () => {
    expect(() => withGenerated('a.md', '# Ports', parts)).toThrow(
      'a.md has no <!-- ports: generated --> with <!-- /ports --> after it',
    );
  });
});

describe('the Helm commands of a page', () => {
  it.each(['upgrade', 'upgrade --install', 'template'])('name the published chart, or write it, to %s', (verb) => {
    const local = `Do:\n\nnpm run chart\nhelm ${verb} lumigo dist/chart/lumigo-operator --no-hooks\n`;
    const published = `Do:\n\nhelm ${verb} lumigo lumigo/lumigo-operator --no-hooks\n`;
    expect(withChart(local, 'lumigo/lumigo-operator')).toBe(published);
    expect(withChart(published, 'dist/chart/lumigo-operator')).toBe(local);
    expect(withChart(local, 'dist/chart/lumigo-operator')).toBe(local);
  });
});

describe('the reference pages', () => {
  it.each(Object.entries(references))('%s says what the sources say', (file, page) => {
    expect(read(file)).toBe(page());
  });

  it('name tests of rights that exist', () => {
    const all = [...Object.values(permissions), ...Object.values(checkPermissions)];
    const named = all.flatMap((rules) => rules.map(({ test }) => test));
    expect(named.filter((test) => !existsSync(join('runtime', test)))).toEqual([]);
  });

  it('begin with eight settings that exist', () => {
    const [, first = ''] = settingsReference().split(/^## /m);
    expect(first.match(/^\| `/gm)).toHaveLength(8);
  });

  it('contain each setting once below the first ones', () => {
    const [, , ...sections] = settingsReference().split(/^## /m);
    const paths = [...sections.join('').matchAll(/^\| `([^`]+)`/gm)].map(([, path]) => path);
    expect(paths.toSorted()).toEqual(
      settingEntries()
        .map(({ path }) => path)
        .toSorted(),
    );
  });

  it('call the value of an annotation JSON if the operator writes JSON', () => {
    const workload = instrumented();
    const written = { ...workload.metadata.annotations, ...toTemplate(workload)?.metadata?.annotations };
    for (const name of [annotations.instrumentation, annotations.injection]) {
      const row = labelsReference().match(new RegExp(`^\\| \`${name}\` .*`, 'm'))?.[0];
      expect([name, row?.includes('| JSON |')]).toEqual([name, written[name]?.startsWith('{')]);
    }
  });

  it('have only reasons of conditions and events that the program reports', () => {
    const sources = readdirSync('runtime', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|^api\//.test(file))
      .map((file) => read(join('runtime', file)))
      .join('\n');
    const reasons = Object.values(conditionTypes).flatMap(({ reasons: own }) => Object.keys(own));
    expect([...reasons, ...Object.keys(events)].filter((reason) => !sources.includes(`'${reason}'`))).toEqual([]);
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
    expect(dockerfile.match(/^ENV NODE_OPTIONS="--disable-sigusr1 /gm)).toHaveLength(1);
  });

  it('leaves the manager most of the memory that it shares with programs of kubectl exec', () => {
    const dockerfile = read('Dockerfile');
    const shares = [...dockerfile.matchAll(/--max-old-space-size-percentage=(\d+)/g)].map(([, share]) => Number(share));
    expect(shares).toEqual([25, 60]);
    // Otherwise the young generation alone would take 192 MB.
    expect(dockerfile.match(/--max-semi-space-size=2/g)).toHaveLength(2);
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
