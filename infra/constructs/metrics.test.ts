import { describe, expect, it } from '@jest/globals';
import { fromEnvironment } from '../../runtime/config/config.ts';
import { ports, suffixes } from '../../runtime/contract.ts';
import { permissions } from '../../runtime/access/permissions.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';

const name = 'lumigo-lumigo-operator';
const plain = synthesize(parseSettings({}));
const secure = synthesize(parseSettings({ metrics: { secure: true }, networkPolicy: { enabled: true } }));

const find = (manifests: readonly Manifest[], kind: string, suffix: string): Manifest | undefined =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name + suffix);

interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

function containers(manifests: readonly Manifest[]): readonly Container[] {
  const { template } = find(manifests, 'Deployment', suffixes.manager)?.['spec'] as {
    template: { spec: { containers: readonly Container[] } };
  };
  return template.spec.containers;
}

const servicePorts = (manifests: readonly Manifest[]) =>
  (find(manifests, 'Service', suffixes.metricsService)?.['spec'] as { ports: readonly object[] }).ports;

describe('metrics.secure', () => {
  it('gives the manager a role of its own for token reviews, and only then [F25]', () => {
    for (const kind of ['ClusterRole', 'ClusterRoleBinding'])
      expect(find(plain, kind, suffixes.metricsRole)).toBeUndefined();
    const granted = permissions.metrics.map(({ why: _why, test: _test, ...rule }) => rule);
    expect(find(secure, 'ClusterRole', suffixes.metricsRole)?.['rules']).toEqual(granted);
    const binding = find(secure, 'ClusterRoleBinding', suffixes.metricsRole);
    expect(binding?.['roleRef']).toMatchObject({ kind: 'ClusterRole', name: name + suffixes.metricsRole });
    expect(binding?.['subjects']).toEqual([
      { kind: 'ServiceAccount', name: name + suffixes.manager, namespace: 'lumigo-system' },
    ]);
  });

  it('leaves one port to scrape, whose name says that it uses TLS [F25]', () => {
    expect(servicePorts(plain)).toEqual([
      { name: 'metrics', port: ports.metrics, protocol: 'TCP', targetPort: 'metrics' },
      { name: 'otlp-metrics', port: ports.telemetryMetrics, protocol: 'TCP', targetPort: 'otlp-metrics' },
    ]);
    expect(servicePorts(secure)).toEqual([
      { name: 'https-metrics', port: ports.metrics, protocol: 'TCP', targetPort: 'metrics' },
    ]);
    const numbers = containers(secure).flatMap((each) => each.ports.map(({ containerPort }) => containerPort));
    expect(numbers).toContain(ports.metrics);
    expect(numbers).not.toContain(ports.telemetryMetrics);
    const policy = find(secure, 'NetworkPolicy', suffixes.manager);
    expect(JSON.stringify(policy?.['spec'])).toContain(`"port":${ports.metrics}`);
    expect(JSON.stringify(policy?.['spec'])).not.toContain(String(ports.telemetryMetrics));
  });

  it('reaches both programs of the pod', () => {
    const [manager] = containers(secure);
    const environment = Object.fromEntries(manager?.env.map(({ name: key, value = 'pod' }) => [key, value]) ?? []);
    expect(fromEnvironment(environment).metricsSecure).toBe(true);
  });
});
