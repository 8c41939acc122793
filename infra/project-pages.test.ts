import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { kubernetesVersion } from '../sandbox/programs/archives.ts';
import { chartMetadata } from './helm/chart-texts.ts';

/** The pages that a stranger looks for first say what is so. */
const read = (file: string): string => readFileSync(file, 'utf8');

describe('LICENSE', () => {
  it('is the text of the Apache License 2.0, to the byte, which the package and the chart name', () => {
    // Of https://www.apache.org/licenses/LICENSE-2.0.txt, also what cdk8s-cli and others carry.
    const published = 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30';
    expect(createHash('sha256').update(readFileSync('LICENSE')).digest('hex')).toBe(published);
    expect(JSON.parse(read('package.json'))).toMatchObject({ license: 'Apache-2.0' });
    expect(chartMetadata().annotations['artifacthub.io/license']).toBe('Apache-2.0');
  });
});

describe('the table of Kubernetes versions', () => {
  const [, table = ''] = read('README.md').split('## Kubernetes versions\n');

  it('names the version that the tests run on', () => {
    const [, tried] = /^v(\d+\.\d+)/.exec(kubernetesVersion) ?? [];
    expect(table).toContain(`Every change is tried on Kubernetes ${tried},`);
  });

  it('has as its oldest the one that the chart lets in', () => {
    const [, oldest] = />=(\d+\.\d+)/.exec(chartMetadata().kubeVersion) ?? [];
    expect(table).toContain(`The chart takes ${oldest} and newer`);
  });
});

describe('the pictures of the README', () => {
  const pictures = [...read('README.md').matchAll(/!\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text = '', file = '']) => [
    file,
    text,
  ]);

  it('are two: how it works, and the demo', () => {
    expect(pictures.map(([file]) => file)).toEqual(['docs/how-it-works.svg', 'docs/demo.svg']);
  });

  it.each(pictures)('%s is there, says its content in words too, and fetches and runs nothing', (file, text) => {
    expect(text.length).toBeGreaterThan(40);
    const picture = read(file);
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>\n$/);
    expect(picture.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/<script|href|url\((?!#)|@import/);
    expect(picture).toContain('<title');
  });
});

describe('docs/contributing/numbers.md', () => {
  const tests = readdirSync('.', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && /^(runtime|infra|sandbox|bench)\//.test(file),
  );
  // In a title: at its beginning, or in brackets at its end.
  const numbersIn = (file: string) =>
    [...read(file).matchAll(/(?<=['"`(, [])[DF]\d{1,2}(?=[:,)\]])/g)].map(([number]) => number);

  it('explains each number that a test is named after', () => {
    const used = new Set(tests.flatMap(numbersIn));
    expect(used.size).toBeGreaterThan(60);
    expect([...used].filter((number) => !read('docs/contributing/numbers.md').includes(`| ${number} |`))).toEqual([]);
  });
});
