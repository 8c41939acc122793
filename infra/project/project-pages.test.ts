import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { conditionTypes } from '../../runtime/api/conditions.ts';
import { variables } from '../../runtime/injection/variables.ts';
import { podAttributes } from '../../runtime/telemetry-proxy/render-attributes.ts';
import { kubernetesVersion } from '../../sandbox/programs/archives.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { OLDEST_KUBERNETES } from '../helm/chart-texts.ts';
import { parseSettings } from '../settings/settings.ts';
import { settingEntries } from '../settings/tree.ts';

const read = (file: string): string => readFileSync(file, 'utf8');
const matchesIn = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([whole, group]) => group ?? whole);
const manifests = parseAllDocuments(read('infra/renderings/plain/everything.yaml')).map(
  (document) => document.toJS() as Manifest,
);

describe('docs/contributing/tested-versions.md', () => {
  it('names the Kubernetes version that the usual tests run on', () => {
    const [, usual = ''] = /^v(\d+\.\d+)/.exec(kubernetesVersion) ?? [];
    expect(read('docs/contributing/tested-versions.md')).toContain(`Every change is tested on Kubernetes ${usual},`);
  });
});

describe('docs/install/gitops.md', () => {
  it('names each variable that the injection replaces, and has a rule of Argo CD for it', () => {
    const page = read('docs/install/gitops.md');
    const [, rule = '(?!)'] = /test\("([^"]+)"\)/.exec(page) ?? [];
    const missing = variables.filter(({ name }) => !page.includes(`\`${name}\``) || !new RegExp(rule).test(name));
    expect(missing).toEqual([]);
  });
});

describe('README.md', () => {
  const readme = read('README.md');

  it('has at most 170 lines', () => expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(170));

  it('names the oldest Kubernetes version that the chart accepts', () => {
    expect(readme).toContain(`a Kubernetes cluster, version ${OLDEST_KUBERNETES} or newer`);
  });

  it('has the command for a first look in its first lines', () => {
    expect(readme.split('\n').slice(0, 12).join('\n')).toContain('run `npm start`');
  });
});

describe('the pictures of the README', () => {
  const pictures = [...read('README.md').matchAll(/!\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text = '', file = '']) => [
    file,
    text,
  ]);

  it.each(pictures)('%s exists, has its content in words too, and fetches and runs nothing', (file, text) => {
    expect(text.length).toBeGreaterThan(40);
    const picture = read(file);
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>\n$/);
    expect(picture.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/<script|href|url\((?!#)|@import/);
    expect(picture).toContain('<title');
  });
});

describe('a drawn picture', () => {
  const drawn = ['docs/how-it-works.svg', 'docs/use/rollout.svg'];
  const parseNumbers = (element: string, names: readonly string[]): number[] =>
    names.map((name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(element)?.[1] ?? 0));

  it.each(drawn)('%s has a background and colors for dark mode [F85]', (file) => {
    const picture = read(file);
    const [, width = '', height = ''] = /viewBox="0 0 (\d+) (\d+)"/.exec(picture) ?? [];
    expect(picture).toContain(`<rect class="page" width="${width}" height="${height}"`);
    expect(picture).toContain('@media (prefers-color-scheme:dark)');
  });

  it.each(drawn)('%s keeps each text inside its box, also with a wide font [F85]', (file) => {
    const boxes = [...read(file).matchAll(/<rect [^>]*>/g)].map(([rect]) =>
      parseNumbers(rect, ['x', 'y', 'width', 'height']),
    );
    const texts = [...read(file).matchAll(/<text ([^>]*)>([^<]*)</g)].filter(
      ([, given = '']) => !given.includes('anchor'),
    );
    const beyond = texts.filter(([element, given = '', text = '']) => {
      const [x = 0, y = 0] = parseNumbers(element, ['x', 'y']);
      const around = boxes.filter(([left = 0, top = 0, width = 0, height = 0]) => {
        return left <= x && x <= left + width && top <= y && y <= top + height;
      });
      const right = Math.min(...around.map(([left = 0, , width = 0]) => left + width));
      return x + text.length * (given.includes('small') ? 7.2 : 8.6) > right;
    });
    expect(beyond.map(([, , text]) => text)).toEqual([]);
  });
});

describe('docs/contributing/numbers.md', () => {
  const tests = readdirSync('.', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && /^(runtime|infra|sandbox|bench)\//.test(file),
  );
  it('explains each number that a test is named after', () => {
    const used = new Set(tests.flatMap((file) => matchesIn(read(file), /(?<=['"`(, [])[DF]\d{1,2}(?=[:,)\]])/g)));
    expect(used.size).toBeGreaterThan(60);
    expect([...used].filter((number) => !read('docs/contributing/numbers.md').includes(`| ${number} |`))).toEqual([]);
  });
});

describe('docs/contributing/adr', () => {
  it('has numbers without gaps [F90]', () => {
    const numbers = readdirSync('docs/contributing/adr').map((file) => Number(file.slice(0, 4)));
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_number, index) => index + 1));
  });
});

describe('package.json', () => {
  it('overrides only versions whose reason CONTRIBUTING.md has [F87]', () => {
    const { overrides } = JSON.parse(read('package.json')) as { overrides: Readonly<Record<string, string>> };
    for (const [name, version] of Object.entries(overrides))
      expect(read('CONTRIBUTING.md')).toContain(`| \`${name}\` ${version} |`);
  });
});

const pages = readdirSync('.', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.md') && !/(^|\/)(node_modules|dist)\//.test(file),
);

describe('the commands of a page', () => {
  it('hide the Secrets that a dry run of Helm would print', () => {
    const dryRuns = pages.flatMap((page) => matchesIn(read(page), /^.*helm.*--dry-run.*$/gim));
    expect(dryRuns.length).toBeGreaterThan(1);
    expect(dryRuns.filter((line) => !line.includes('--hide-secret'))).toEqual([]);
  });

  const made = { 'dist/chart/': 'chart', 'dist/manifests/': 'synth', 'dist/olm/': 'olm', 'dist/runtime/': 'build' };

  it.each(pages)('build in %s what they use', (page) => {
    const commands = matchesIn(read(page), /```sh\n([^]*?)```/g).join('');
    const missing = Object.entries(made).filter(([folder, script]) => {
      const [before = '', ...uses] = commands.split(folder);
      return uses.length > 0 && !before.includes(`npm run ${script}\n`);
    });
    expect(missing).toEqual([]);
  });
});

describe('a page', () => {
  const paths = settingEntries().map(({ path }) => path.replaceAll('[]', ''));
  const settings = new Set(
    paths.flatMap((path) => [...path.matchAll(/\.|$/g)].map(({ index }) => path.slice(0, index))),
  );
  const isMeant = (name: string): boolean =>
    settings.has(name.split('.')[0] ?? '') || [...settings].some((path) => path.endsWith(`.${name}`));
  // A decision names what there was, and the guide names what the original has.
  const current = pages.filter((page) => !/\/adr\/|\/migrate-/.test(page));
  // The first two are hooks of the chart. The manager creates the others.
  const others = ['check', 'uninstall', 'leader', 'monitored-namespaces'].map(
    (name) => `lumigo-lumigo-operator-${name}`,
  );
  const objects = new Set([...others, ...manifests.map(({ metadata }) => metadata.name)]);

  it.each(current)('%s names objects, conditions and settings that exist', (page) => {
    const text = read(page);
    const inline = matchesIn(text.replace(/```[^]*?```/g, ''), /`([a-z]\w*(?:\.[a-zA-Z_]+)+)[`:]/g);
    const conditions = matchesIn(text, /\btype ?== ?"(\w+)"/g);
    expect(inline.filter((name) => isMeant(name) && !settings.has(name))).toEqual([]);
    expect(conditions.filter((type) => !(type in conditionTypes))).toEqual([]);
    expect(matchesIn(text, /\b(lumigo-lumigo-operator-[a-z-]+)/g).filter((name) => !objects.has(name))).toEqual([]);
  });

  const findSettings = (page: string) =>
    matchesIn(read(page), /```yaml\n([^]*?)```/g).filter(
      (block) => settings.has(matchesIn(block, /^([a-zA-Z]+):/gm)[0] ?? '') && !/^on:/m.test(block),
    );

  it('has settings that this test finds', () => expect(current.flatMap(findSettings).length).toBeGreaterThan(4));

  it.each(current)('%s has only settings that can be installed', (page) => {
    for (const block of findSettings(page)) expect(() => parseSettings(parse(block))).not.toThrow();
  });
});

describe('docs/operate/uninstall.md', () => {
  const kindsOf = (objects: readonly Manifest[]) => [...new Set(objects.map(({ kind }) => kind.toLowerCase()))];
  const ofCluster = manifests.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace === undefined);

  it('deletes what stays after the namespace of an operator with every feature on', () => {
    const [text = ''] = read('docs/operate/uninstall.md').split('\n## Remove one of two installations');
    const lines = matchesIn(text, /^kubectl delete (\S+) -l app\.kubernetes\.io\/part-of=lumigo(?: |$)/gm);
    const deleted = lines.flatMap((list) => list.replace('crd', 'customresourcedefinition').split(','));
    expect(deleted.toSorted()).toEqual(kindsOf(ofCluster).toSorted());
    for (const { metadata } of ofCluster)
      expect(metadata.labels).toHaveProperty(['app.kubernetes.io/part-of'], 'lumigo');
  });

  it('removes one of two installations, except what both share and other objects of the namespace', () => {
    const own = manifests.filter(({ kind }) => !['Namespace', 'CustomResourceDefinition'].includes(kind));
    const [, section = ''] = read('docs/operate/uninstall.md').split('## Remove one of two installations\n');
    const [text = ''] = section.split('\n## ');
    const lines = [...text.matchAll(/ kubectl delete (\S+)( -n NAMESPACE)? -l (\S+)=INSTANCE/g)];
    const deleted = lines.flatMap(([, list = '', namespace]) => (namespace === undefined ? list.split(',') : []));
    const kinds = kindsOf(ofCluster.filter(({ kind }) => kind !== 'CustomResourceDefinition'));
    expect(deleted.toSorted()).toEqual(kinds.toSorted());
    expect([...kindsOf(own), 'secret', 'job'].filter((kind) => !new RegExp(`\\b${kind}\\b`).test(text))).toEqual([]);
    expect(text).not.toMatch(/^ +kubectl delete namespace/m);
    for (const [, , , labels] of lines)
      expect(labels).toBe('app.kubernetes.io/part-of=lumigo,app.kubernetes.io/instance');
    for (const { metadata } of own)
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/part-of': 'lumigo',
        'app.kubernetes.io/instance': expect.any(String),
      });
  });
});

describe('docs/migrate-from-original.md', () => {
  it('calls no attribute missing that the telemetry proxy adds', () => {
    const rows = read('docs/migrate-from-original.md')
      .split('\n')
      .filter((row) => row.includes('| Missing.'));
    const missing = rows.flatMap((row) => matchesIn(row.split('|')[1] ?? '', /`([^`]+)`/g));
    expect(missing).toContain('k8s.namespace.uid');
    expect(podAttributes.filter((name) => missing.includes(name))).toEqual([]);
  });
});

describe('a link in a page', () => {
  const parseLinks = (page: string) => matchesIn(read(page).replace(/```[^]*?```|`[^`\n]*`/g, ''), /\]\(([^)\s]+)\)/g);

  it('is found by this test in every page', () => expect(pages.flatMap(parseLinks).length).toBeGreaterThan(200));

  it.each(pages)('leads from %s to a file and a heading that exist', (page) => {
    const broken = parseLinks(page).filter((link) => !/^(https?|mailto):/.test(link) && !leadsSomewhere(page, link));
    expect(broken).toEqual([]);
  });

  it.each(pages)('names a decision in %s by its own number', (page) => {
    const links = [...read(page).matchAll(/\[(?:adr\/|ADR )?(\d+)\]\((?:[^)]*\/)?(\d{4})-[^)]*\)/g)];
    expect(links.filter(([, label, target]) => Number(label) !== Number(target)).map(([link]) => link)).toEqual([]);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || parseAnchors(read(target)).includes(anchor);
}

const parseAnchors = (text: string): string[] => [
  ...matchesIn(text.replace(/```[^]*?```/g, ''), /^#+ (.*)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\-_ ]/gu, '')
      .replaceAll(' ', '-'),
  ),
  ...matchesIn(text, /<a (?:id|name)="([^"]+)"/g),
];
