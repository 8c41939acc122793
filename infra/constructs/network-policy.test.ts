import { describe, expect, it } from '@jest/globals';
import { ports } from '../../runtime/contract.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';

interface Policy {
  readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly { readonly from?: readonly object[]; readonly ports: readonly { port: number }[] }[];
}

const installed = (networkPolicy: object): readonly Manifest[] => synthesize(parseSettings({ networkPolicy }));

function getPolicy(networkPolicy: object = {}): Policy {
  const found = installed({ enabled: true, ...networkPolicy }).filter(({ kind }) => kind === 'NetworkPolicy');
  expect(found).toHaveLength(1);
  return found[0]?.['spec'] as Policy;
}

const opened = ({ ingress }: Policy): Record<number, unknown> =>
  Object.fromEntries(ingress.flatMap(({ from, ports: each }) => each.map(({ port }) => [port, from])));

/** A rule without `from` allows every source. */
const anywhere = undefined;

describe('the NetworkPolicy', () => {
  it('is rendered only if the settings ask for it [F25]', () => {
    expect(getPolicy().policyTypes).toEqual(['Ingress']);
    expect(installed({}).map(({ kind }) => kind)).not.toContain('NetworkPolicy');
  });

  it('opens each port to its clients, and the health port only to the node [F25]', () => {
    const everyPod = [{ namespaceSelector: {} }];
    const scrapers = [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }];
    expect(opened(getPolicy())).toEqual({
      [ports.webhook]: anywhere,
      [ports.otlpHttp]: everyPod,
      [ports.otlpGrpc]: everyPod,
      [ports.metrics]: scrapers,
      [ports.telemetryMetrics]: scrapers,
    });
  });

  it('takes the allowed clients from the settings, in the form of Kubernetes', () => {
    const from = (cidr: string) => [{ ipBlock: { cidr, aFieldOfTheFuture: true } }];
    const own = { webhook: { from: from('10.0.0.0/28') }, otlp: { from: from('10.1.0.0/16') }, metrics: { from: [] } };
    expect(opened(getPolicy(own))).toEqual({
      [ports.webhook]: from('10.0.0.0/28'),
      [ports.otlpHttp]: from('10.1.0.0/16'),
      [ports.otlpGrpc]: from('10.1.0.0/16'),
      [ports.metrics]: anywhere,
      [ports.telemetryMetrics]: anywhere,
    });
  });

  it('selects the pods of the Deployment', () => {
    const { matchLabels } = getPolicy().podSelector;
    expect(matchLabels).toHaveProperty(['app.kubernetes.io/component'], 'controller-manager');
    const deployment = installed({}).find(({ kind }) => kind === 'Deployment');
    expect(deployment?.['spec']).toMatchObject({ template: { metadata: { labels: matchLabels } } });
  });
});
