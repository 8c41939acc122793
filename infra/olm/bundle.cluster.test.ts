import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { writeFiles } from '../helm/write-files.ts';
import { parsePublisher } from '../settings/publisher.ts';
import { parseSettings } from '../settings/settings.ts';
import { bundleFiles } from './bundle.ts';

const acme = parsePublisher(`
home: https://github.com/acme/operator
images: ghcr.io/acme
charts: { index: '', oci: '' }
npm: ''
maintainers: [{ name: Acme, email: team@acme.example, url: https://acme.example }]
`);
const files = bundleFiles(parseSettings({}), acme);
const find = (kind: string): string => Object.keys(files).find((path) => path.startsWith(`manifests/${kind}.`)) ?? '';

let verify = '';
const work = createTemporaryFolder();
beforeAll(async () => {
  verify = (await ensureBinaries(['operator-verify']))['operator-verify'] ?? '';
});

/** Returns the messages of operator-framework's validators, which exit with 0 also after an error. */
function validate(given: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(join(work, 'bundle-'));
  writeFiles(folder, given);
  const args = ['manifests', '--operatorhub_validate', '--object_validate', folder];
  const { error, stderr } = spawnSync(verify, args, { encoding: 'utf8' });
  expect(error).toBeUndefined();
  return [...stderr.matchAll(/level=(\w+) msg="(.*)"$/gm)].map(([, level, text]) => `${level}: ${text}`);
}

describe("operator-framework's validators", () => {
  it('accept the bundle, with three warnings that are no defects', () => {
    expect(validate(files)).toEqual([
      expect.stringMatching(/^warning: .*csv\.Spec\.Icon not specified$/),
      // The resource is in a rule of a role, and its group has v1.
      expect.stringMatching(/^warning: .*removed in v1\.25.*for cronjobs/),
      expect.stringMatching(/^warning: .*validator is deprecated/),
    ]);
  });

  it.each(['customresourcedefinition', 'clusterserviceversion'])('refuse a bundle without its %s', (kind) => {
    const { [find(kind)]: removed, ...others } = files;
    expect(removed).toBeDefined();
    expect(validate(others)).toContainEqual(expect.stringMatching(/^(error|fatal): /));
  });
});
