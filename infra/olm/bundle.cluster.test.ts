import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { apply, applyDefinition } from '../../sandbox/manager/apply.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { getDefinitions } from '../../sandbox/programs/definitions.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import type { Manifest } from '../constructs/manifest.ts';
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
const settings = parseSettings({});
const files = bundleFiles(settings, acme);
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

  it('refuse the account of the Deployment as an object of the bundle', () => {
    const name = 'lumigo-lumigo-operator-controller-manager';
    const account = `apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: ${name} }\n`;
    const messages = validate({ ...files, 'manifests/account.yaml': account });
    expect(messages).toContainEqual(expect.stringMatching(/^error: .*invalid service account found in bundle/));
  });
});

describe('the objects of the bundle', () => {
  let cluster: ControlPlane;
  const { namespace } = settings;
  beforeAll(async () => {
    cluster = await startControlPlane({ controllerManager: false });
    await apply(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const [definition] = getDefinitions('olm', ['clusterserviceversions']);
    if (definition === undefined) throw new Error('the module has no definition of a ClusterServiceVersion');
    await applyDefinition(cluster.client, definition);
  });
  afterAll(() => cluster?.stop());

  const manifests = Object.entries(files)
    .filter(([path]) => path.startsWith('manifests/'))
    .map(([, text]) => parse(text) as Manifest);
  const first = parseAllDocuments(files['apply-first.yaml'] ?? '').map((each) => each.toJS() as Manifest);

  it('are accepted by an API server, as are the Deployment of its CSV and apply-first.yaml', async () => {
    const { install } = manifests[0]?.['spec'] as Csv;
    const deployments = install.spec.deployments.map(({ name, label, spec }) => ({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels: label }, spec },
    }));
    const all = [...first, ...manifests, ...deployments];
    expect(all.length).toBeGreaterThan(20);
    for (const object of all) await applyIn(object);
    const misspelled = { ...deployments[0], spec: { ...deployments[0]?.spec, replica: 2 } } as unknown as Manifest;
    await expect(applyIn(misspelled)).rejects.toThrow(/replica/);
  });

  /** Applies with strict validation, into the namespace of the installation, as OLM does. */
  const applyIn = (object: Manifest): Promise<unknown> =>
    apply(cluster.client, isNamespaced(object) ? { ...object, metadata: { ...object.metadata, namespace } } : object);
});

const clusterWide = /^(Cluster|Custom|PriorityClass|Mutating|Validating)/;
const isNamespaced = ({ kind }: Manifest): boolean => kind === 'ClusterServiceVersion' || !clusterWide.test(kind);

interface Csv {
  readonly install: {
    readonly spec: {
      readonly deployments: readonly {
        readonly name: string;
        readonly label: Record<string, string>;
        readonly spec: object;
      }[];
    };
  };
}
