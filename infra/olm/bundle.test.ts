import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import type { PolicyRule } from '../../runtime/access/permissions.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { synthesize, withEverything } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';
import { bundleFiles, toBundled } from './bundle.ts';

const { lumigoToken, ...rest } = withEverything(parseSettings({}));
const everything = { ...rest, lumigoToken: { ...lumigoToken, value: '' } };
const toKey = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

describe('the OLM bundle', () => {
  const { 'apply-first.yaml': first = '', ...files } = bundleFiles(everything);
  const bundled = Object.entries(files)
    .filter(([path]) => path.startsWith('manifests/'))
    .map(([, text]) => parse(text) as Manifest);
  const csv = bundled.find(({ kind }) => kind === 'ClusterServiceVersion');
  const { install } = csv?.['spec'] as { readonly install: { readonly spec: Strategy } };
  const { deployments, clusterPermissions } = install.spec;

  it('has each object of the tree once: in the bundle, in its CSV or in apply-first.yaml', () => {
    const applied = parseAllDocuments(first).map((document) => document.toJS() as Manifest);
    const fromCsv = [
      ...deployments.map(({ name }) => `Deployment ${name}`),
      ...clusterPermissions.map(({ serviceAccountName }) => `ServiceAccount ${serviceAccountName}`),
    ];
    const all = synthesize(toBundled(everything), 'OLM').map(toKey);
    const found = [...bundled.filter((each) => each !== csv), ...applied].map(toKey);
    expect([...found, ...fromCsv].toSorted()).toEqual(all.toSorted());
  });

  it("has the rights in the operator's namespace in a Role, because OLM would grant those of a CSV everywhere", () => {
    const toResources = (rules: unknown) => (rules as readonly PolicyRule[]).flatMap(({ resources }) => resources);
    const roles = bundled.filter(({ kind }) => kind === 'Role').flatMap(({ rules }) => toResources(rules));
    const everywhere = clusterPermissions.flatMap(({ rules }) => toResources(rules));
    expect(Object.keys(install.spec)).toEqual(['clusterPermissions', 'deployments']);
    for (const resource of ['leases', 'serviceaccounts/token', 'configmaps']) {
      expect(roles).toContain(resource);
      expect(everywhere).not.toContain(resource);
    }
    expect(everywhere).toContain('lumigoes/status');
  });

  it('needs the version of Kubernetes that the settings need', () => {
    const oldest = (given: object): unknown =>
      (parse(Object.values(bundleFiles(parseSettings(given)))[0] ?? '') as { readonly spec: Manifest }).spec[
        'minKubeVersion'
      ];
    expect(oldest({})).toBe('1.30.0');
    expect(oldest({ injection: { podMode: true } })).toBe('1.36.0');
  });

  it('refuses a token, because a bundle is public', () => {
    expect(() => bundleFiles(parseSettings({ lumigoToken: { value: validToken } }))).toThrow(/lumigoToken\.value/);
  });
});

interface Strategy {
  readonly deployments: readonly { readonly name: string }[];
  readonly clusterPermissions: readonly {
    readonly serviceAccountName: string;
    readonly rules: readonly PolicyRule[];
  }[];
}
