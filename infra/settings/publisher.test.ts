import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { chartMetadata, chartReadme } from '../helm/chart-texts.ts';
import { installWithHelm } from '../helm/installation-texts.ts';
import { synthesize } from '../operator.ts';
import { getChartRepository, getImageRepository, parsePublisher, unpublishedNotice } from './publisher.ts';
import { parseSettings } from './settings.ts';

/** Only publisher.yaml has the identity of what is published [F52]. */

const unpublished = parsePublisher(
  "{ home: '', images: '', charts: { index: '', oci: '' }, npm: '', maintainers: [] }",
);
const acme = parsePublisher(`
home: https://github.com/acme/operator
images: ghcr.io/acme
charts: { index: https://acme.github.io/operator, oci: ghcr.io/acme/charts }
npm: '@acme/operator'
maintainers: [{ name: Acme, url: https://acme.example }]
`);

describe('an operator that is published', () => {
  it('has its images, its chart and its links in publisher.yaml', () => {
    expect(getImageRepository('lumigo-kubernetes-operator', acme)).toBe('ghcr.io/acme/lumigo-kubernetes-operator');
    const { index, oci } = acme.charts;
    expect(getChartRepository(acme)).toBe(index);
    expect(getChartRepository({ ...acme, charts: { index: '', oci } })).toBe(`oci://${oci}`);
    expect(chartMetadata(acme)).toMatchObject({
      home: 'https://github.com/acme/operator',
      sources: ['https://github.com/acme/operator'],
      maintainers: [{ name: 'Acme', url: 'https://acme.example' }],
    });
    const commands = installWithHelm(acme);
    expect(commands).toContain('helm repo add lumigo https://acme.github.io/operator\n');
    expect(commands).toContain('helm install lumigo oci://ghcr.io/acme/charts/lumigo-operator ');
    expect(commands).not.toContain('localhost');
  });
});

describe('an operator that is not published', () => {
  const image = { repository: getImageRepository('lumigo-kubernetes-operator', unpublished), tag: '1.0.0' };

  it('has no publisher, and says what to build', () => {
    expect(image.repository).toBe('localhost/lumigo-kubernetes-operator');
    const { home, sources, maintainers } = chartMetadata(unpublished) as Readonly<Record<string, unknown>>;
    expect([home, sources, maintainers]).toEqual([undefined, undefined, undefined]);
    expect(installWithHelm(unpublished)).not.toContain('helm repo add');
    expect(installWithHelm(unpublished)).toContain('docker build -t localhost/lumigo-kubernetes-operator:');
    expect(unpublishedNotice(image)).toContain('`docker build -t localhost/lumigo-kubernetes-operator:1.0.0 .`');
    expect(unpublishedNotice({ ...image, repository: 'registry.example/operator' })).toBeUndefined();
    expect(unpublishedNotice(image, 'registry.example/mirror/')).toBeUndefined();
  });
});

describe('publisher.yaml', () => {
  it('is refused with a list of all problems', () => {
    const unscoped = 'npm: lumigo-kubernetes-operator';
    const wrong = `{ home: 'http://x', images: 'GHCR.io', charts: { index: '', oci: '' }, ${unscoped}, maintainers: [] }`;
    expect(() => parsePublisher(wrong)).toThrow(
      /publisher.yaml cannot be used:\n {2}- home must be an https.*\n {2}- images must be a registry with a folder.*\n {2}- npm must be/,
    );
  });
});

describe('the repository of the original operator', () => {
  const original = /lumigo-io|public\.ecr\.aws\/lumigo\/lumigo-kubernetes-operator/;

  it('is not named in pages for users or in delivered objects', () => {
    const pages = ['README.md', 'docs/reference/settings.md', 'docs/operate/updater.md', 'CHANGELOG.md'];
    for (const page of pages) expect(readFileSync(page, 'utf8')).not.toMatch(original);
    const settings = parseSettings({ updater: { mode: 'upgrade' } });
    const delivered = [synthesize(settings, 'Helm'), chartMetadata(), chartReadme()];
    expect(JSON.stringify(delivered)).not.toMatch(original);
  });
});
