import { beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { parsePublisher } from '../settings/publisher.ts';
import { program } from './program.ts';
import { planRelease } from './release.ts';
import { workflowSigner } from './signing.ts';
import { changelogSection, verifyChecksums } from './steps.ts';

const acme = parsePublisher(`
home: https://github.com/acme/operator
images: ghcr.io/acme
charts: { index: https://acme.github.io/operator, oci: ghcr.io/acme/charts }
npm: '@acme/operator'
maintainers: []
`);
const unpublished = { ...acme, images: '', npm: '' };

describe('a release [F52]', () => {
  it('is planned for the tag of its version, and goes to the places in publisher.yaml', () => {
    const { images, chart, npm } = planRelease('v1.2.3', '1.2.3', acme);
    expect(images.map(({ repository }) => repository)).toEqual([
      'ghcr.io/acme/lumigo-kubernetes-operator',
      'ghcr.io/acme/lumigo-kubernetes-operator-updater',
    ]);
    expect([chart, npm]).toEqual(['ghcr.io/acme/charts/lumigo-operator', '@acme/operator']);
  });

  it.each([
    ['a tag of another version', 'v1.2.4', acme, /the tag 'v1\.2\.4' does not match the version 1\.2\.3/],
    ['no tag', '', acme, /the tag '' does not match the version/],
    ['a publisher without values', 'v1.2.3', unpublished, /publisher\.yaml has no value for images, npm\. Set it/],
  ])('is refused with %s', (_case, tag, publisher, message) => {
    expect(() => planRelease(tag, '1.2.3', publisher)).toThrow(message);
  });

  it('is signed without keys only by a workflow', () => {
    const workflow = 'acme/operator/.github/workflows/release.yml@refs/tags/v1.2.3';
    const url = { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://pipelines.example' };
    expect(workflowSigner({ GITHUB_WORKFLOW_REF: workflow, ...url })).toMatchObject({
      identity: `https://github.com/${workflow}`,
    });
    expect(() => workflowSigner({ GITHUB_WORKFLOW_REF: workflow })).toThrow('works only in a GitHub workflow');
  });
});

describe('the text of a release', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- c\n\n## [1.2.3] - 2026-01-01\n\n### Added\n- b\n\n## 1.2\n- a\n\n## 1.1.0\n';

  it('is the section of its version in the changelog', () => {
    expect(changelogSection(changelog, '1.2.3')).toBe('### Added\n- b\n');
    expect(changelogSection(changelog, '1.2')).toBe('- a\n');
  });

  it.each(['1.2.4', '1', '1.1.0', ''])('is missing for %p, and a sentence says so', (version) => {
    expect(() => changelogSection(changelog, version)).toThrow(`CHANGELOG.md has no text under '## ${version}'`);
  });
});

describe('the checksums of a release', () => {
  const folder = createTemporaryFolder();
  const list = join(folder, 'SHA256SUMS');
  const files = ['a.tgz', 'b.yaml', 'c.txt'];
  beforeEach(async () => {
    for (const name of files) writeFileSync(join(folder, name), name);
    writeFileSync(list, await program('sha256sum', files, { cwd: folder }));
  });

  it('are those of sha256sum', () => {
    expect(() => verifyChecksums(folder)).not.toThrow();
  });

  it('report each file that is missing or changed', () => {
    writeFileSync(join(folder, 'a.tgz'), 'another');
    rmSync(join(folder, 'b.yaml'));
    expect(() => verifyChecksums(folder)).toThrow('SHA256SUMS: a.tgz, b.yaml. Do not use any file of this folder');
  });

  it('are refused if a line names a file elsewhere, or if there is no line or list', () => {
    writeFileSync(list, readFileSync(list, 'utf8').replace('a.tgz', './a.tgz'));
    expect(() => verifyChecksums(folder)).toThrow('SHA256SUMS: ./a.tgz. Do not use');
    writeFileSync(list, '');
    expect(() => verifyChecksums(folder)).toThrow('Do not use');
    rmSync(list);
    expect(() => verifyChecksums(folder)).toThrow('cannot be verified');
  });
});

describe('a program that fails', () => {
  it('is reported in one sentence, without its further arguments', async () => {
    const failing = program('sh', ['-c', 'echo first >&2; echo last >&2; exit 3', '--key', 'secret']);
    await expect(failing).rejects.toThrow(/^sh echo first.* failed: last$/);
  });

  it('is reported if it is not installed', async () => {
    await expect(program('no-such-program', ['sign'])).rejects.toThrow('no-such-program is not installed');
  });
});
