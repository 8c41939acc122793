import { describe, expect, it } from '@jest/globals';
import { App, Chart } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { renderTracedNamespace, TracedNamespace } from './traced-namespace.ts';

const namespace = 'shop';
const lumigo = (secretRef: object, spec: object = {}) => ({
  apiVersion: 'operator.lumigo.io/v1alpha1',
  kind: 'Lumigo',
  metadata: { name: 'lumigo', namespace },
  spec: { lumigoToken: { secretRef }, ...spec },
});
const usual = { name: 'lumigo-credentials', key: 'token' };

describe('TracedNamespace', () => {
  it('is a namespace and a Lumigo resource that names the usual Secret', () => {
    expect(renderTracedNamespace({ namespace, labels: { team: 'shop' } })).toEqual([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { team: 'shop' } }, spec: {} },
      lumigo(usual),
    ]);
  });

  it('has the other fields of the Lumigo resource, and no namespace that exists already', () => {
    const spec = { logging: { enabled: true }, tracing: { enabled: false } };
    expect(renderTracedNamespace({ namespace, createNamespace: false, spec })).toEqual([lumigo(usual, spec)]);
  });

  it('names the Secret of another construct, and writes no namespace of its chart into the namespace', () => {
    const chart = new Chart(new App(), 'chart', { namespace: 'chart' });
    const secret = new Secret(chart, 'secret', { metadata: { name: 'own', namespace } });
    new TracedNamespace(chart, 'traced', { namespace, token: { secret, key: 'lumigo' } });
    const [, traced, resource] = chart.toJson() as object[];
    expect(traced).toEqual({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace }, spec: {} });
    expect(resource).toEqual(lumigo({ name: 'own', key: 'lumigo' }));
  });

  it('has an ExternalSecret that creates the Secret of the token', () => {
    const store = { name: 'vault', kind: 'ClusterSecretStore' as const };
    const token = { secret: { name: 'own' }, key: 'lumigo' };
    const [, external, resource] = renderTracedNamespace({
      namespace,
      token,
      externalToken: { store, remoteRef: { key: 'shop/lumigo' } },
    });
    expect(external).toEqual({
      apiVersion: 'external-secrets.io/v1',
      kind: 'ExternalSecret',
      metadata: { name: 'own', namespace },
      spec: {
        secretStoreRef: store,
        target: { name: 'own' },
        data: [{ secretKey: 'lumigo', remoteRef: { key: 'shop/lumigo' } }],
      },
    });
    expect(resource).toEqual(lumigo({ name: 'own', key: 'lumigo' }));
  });
});
