import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runtime } from '@pulumi/pulumi';
import { issuePair, type KeyPair } from '../../runtime/certificates/issue.ts';
import { workloadKinds } from '../../runtime/contract.ts';
import { ensureBundle } from '../release/bundle.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { apply, toRef } from '../../sandbox/manager/apply.ts';
import { install } from '../../sandbox/manager/install.ts';
import { startManager } from '../../sandbox/manager/manager.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { destroy } from '../../sandbox/testing/destroy.ts';
import type { Manifest } from '../constructs/manifest.ts';

/** Applies in the order of the engine, which is in no package registry, and deletes in reverse. */
let cluster: ControlPlane;
let testCluster: TestCluster;
const applied: Manifest[] = [];
let outputs: Record<string, unknown> = {};
const host = 'lumigo-lumigo-operator-webhooks-service.lumigo-system.svc';
let issued: KeyPair;
let asked: unknown;

beforeAll(async () => {
  await ensureBundle();
  cluster = await startControlPlane();
  testCluster = new TestCluster(cluster.client);
  issued = await issuePair(host, 365, Date.now());
  process.env['PULUMI_CONFIG'] = JSON.stringify({
    'lumigo-kubernetes-operator:settings': JSON.stringify({ cluster: { name: 'pulumi' } }),
  });
  await runtime.setMocks(
    {
      newResource: async ({ type, name, inputs }) => {
        const state = plain(inputs) as Record<string, unknown>;
        for (const manifest of toManifests(type, state)) {
          await apply(cluster.client, manifest, 'pulumi');
          applied.push(manifest);
        }
        return { id: name, state: { ...state, ...madeBy(type, state) } };
      },
      call: () => ({}),
    },
    'lumigo-kubernetes-operator',
    'production',
  );
  outputs = (await import('./pulumi.ts')) as unknown as Record<string, unknown>;
  await runtime.disconnect();
});
afterAll(() => cluster?.stop());

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('4dabf18193072939515e22adb298388d' in value) return plain((value as { value?: unknown }).value);
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child)]));
}

function toManifests(type: string, inputs: Readonly<Record<string, unknown>>): Manifest[] {
  if (type === 'kubernetes:yaml/v2:ConfigGroup') return inputs['objs'] as Manifest[];
  const { __provider: _provider, ...manifest } = inputs;
  return type === 'kubernetes:core/v1:Secret'
    ? [{ ...manifest, apiVersion: 'v1', kind: 'Secret' } as unknown as Manifest]
    : [];
}

/** The provider `tls` is a program of the engine. */
function madeBy(type: string, inputs: object): object {
  if (type === 'tls:index/privateKey:PrivateKey') return { privateKeyPem: 'SEC1', privateKeyPemPkcs8: issued.key };
  if (type !== 'tls:index/selfSignedCert:SelfSignedCert') return {};
  asked = inputs;
  return { certPem: issued.certificate };
}

const { deployment } = workloadKinds;

describe('the Pulumi stack', () => {
  it('installs the operator and a certificate for its webhook, and outputs what a program needs', async () => {
    expect(applied.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Namespace', 'Secret', 'Deployment', 'CustomResourceDefinition']),
    );
    expect(outputs).toMatchObject({
      namespace: 'lumigo-system',
      deployment: 'lumigo-lumigo-operator-controller-manager',
      telemetryProxyUrl: 'http://lumigo-lumigo-operator-telemetry-proxy-service.lumigo-system.svc.cluster.local',
    });
    const secret = applied.find(({ kind }) => kind === 'Secret') as Manifest;
    const { data } = (await cluster.client.get(toRef(secret))) as unknown as { data: Record<string, string> };
    const uses = { isCaCertificate: true, allowedUses: ['digital_signature', 'cert_signing', 'server_auth'] };
    expect(asked).toMatchObject({ privateKeyPem: 'SEC1', dnsNames: [host], validityPeriodHours: 8_760, ...uses });
    const { certificate, key } = issued;
    const files = Object.entries(data).map(([file, text]) => [file, Buffer.from(text, 'base64').toString()]);
    expect(Object.fromEntries(files)).toEqual({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': certificate });
  });

  it('changes nothing when it is applied again', async () => {
    for (const manifest of applied) {
      const before = await cluster.client.get(toRef(manifest));
      const after = await apply(cluster.client, manifest, 'pulumi');
      // Kubernetes' controllers may write the status meanwhile; a generation counts changes of the spec alone.
      const version = before.metadata.generation === undefined ? 'resourceVersion' : 'generation';
      expect([manifest.kind, after.metadata[version]]).toEqual([manifest.kind, before.metadata[version]]);
    }
  });

  it('leaves no instrumented workload, no definition and nothing stuck when destroyed [D42]', async () => {
    const [webhookPort = 0] = await freePorts(1);
    // The manager runs beside the cluster, so its webhook is not behind the Service.
    const webhook = applied.find(({ kind }) => kind === 'MutatingWebhookConfiguration') as Manifest;
    await cluster.client.delete(toRef(webhook));
    const installation = await install(cluster.client, { webhook: webhookPort });
    const manager = await startManager(cluster, installation, { webhookPort });
    const namespace = await testCluster.instrumented('shop');
    const steps = applied.toReversed().map((manifest) => [manifest]);
    await destroy(cluster, steps, () => manager.stop());
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });
});
