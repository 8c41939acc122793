import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { toolOn, type Tool } from '../../sandbox/e2e/tools.ts';
import { apply, applyDefinition, toRef } from '../../sandbox/manager/apply.ts';
import { getDefinitions } from '../../sandbox/programs/definitions.ts';
import { writeChart } from '../helm/chart.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

const certManager = { certificates: { issuer: 'cert-manager' } };
const prometheus = {
  metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboard: { enabled: true } },
};
const makers = [
  ['cert-manager', 'cert-manager.io', certManager, { Certificate: 2, Issuer: 2 }],
  ['prometheus', 'monitoring.coreos.com', prometheus, { ServiceMonitor: 1, PrometheusRule: 1 }],
] as const;
const plurals = { 'cert-manager': ['certificates', 'issuers'], prometheus: ['servicemonitors', 'prometheusrules'] };

let cluster: ControlPlane;
let helm: Tool;
const chart = createTemporaryFolder();
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  helm = await toolOn(cluster, 'helm');
  writeChart(chart);
});
afterAll(() => cluster?.stop());

const ofGroup = (manifests: readonly Manifest[], group: string) =>
  manifests.filter(({ apiVersion }) => apiVersion.startsWith(`${group}/`));

describe.each(makers)('with %s', (maker, group, settings, counts) => {
  const manifests = synthesize(parseSettings({ createNamespace: false, namespace: 'default', ...settings }));

  it('Helm names the missing definitions, and installs nothing without them', async () => {
    const flags = Object.entries(settings).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
    const args = ['install', 'lumigo', chart, '--namespace', 'lumigo-system', '--create-namespace', ...flags];
    for (const kind of Object.keys(counts))
      expect(() => helm(...args)).toThrow(new RegExp(`no matches for kind "${kind}" in version "${group}/v1"`));
    const account = { ...kinds.serviceAccounts, namespace: 'lumigo-system' };
    for await (const { items } of cluster.client.pages(account)) expect(items).toEqual([]);
    expect(helm('list', '--all-namespaces', '--output', 'json').trim()).toBe('[]');
  });

  it('every object is valid, and does not change when it is applied again', async () => {
    for (const definition of getDefinitions(maker, plurals[maker])) await applyDefinition(cluster.client, definition);
    const own = ofGroup(manifests, group);
    expect(
      Object.fromEntries(Object.keys(counts).map((each) => [each, own.filter(({ kind }) => kind === each).length])),
    ).toEqual(counts);
    for (const manifest of own) {
      const { metadata } = await apply(cluster.client, manifest);
      expect((await apply(cluster.client, manifest)).metadata.resourceVersion).toBe(metadata.resourceVersion);
      expect((await cluster.client.get(toRef(manifest))).metadata.name).toBe(manifest.metadata.name);
    }
  });
});
