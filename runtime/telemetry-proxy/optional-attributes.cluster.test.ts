import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../sandbox/testing/eventually.ts';
import type { Attributes } from '../../sandbox/otlp-sink/decode.ts';
import { forward } from '../../sandbox/testing/forwarded.ts';
import { podAt } from '../../sandbox/testing/pod-at.ts';
import { getToken, startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

let telemetry: TelemetryBench;
let [namespace, others, vault, cart] = ['', '', '', ''];
beforeAll(async () => {
  telemetry = await startTelemetry({
    controllerManager: false,
    settings: { telemetry: { findPodsBehindNat: true, namespaceLabels: ['kubernetes.io/metadata.name', 'team'] } },
  });
  namespace = await telemetry.activate('enriched', getToken(7));
  others = await telemetry.activate('others', getToken(9));
  await label(namespace, { team: 'checkout', other: 'unlisted' });
  await label(others, { team: 'vault' });
  vault = await podAt(telemetry.testCluster, '127.0.0.2', { namespace: others, app: 'vault' });
  cart = await podAt(telemetry.testCluster, '127.0.0.1', { namespace, app: 'cart' });
  await telemetry.waitForSettled();
});
afterAll(() => telemetry?.stop());

const label = (name: string, labels: object) =>
  telemetry.cluster.client.patch({ ...kinds.namespaces, name }, { kind: 'merge', body: { metadata: { labels } } });

/** The attributes of labels, without their prefix. */
const getLabels = (resource: Attributes) =>
  Object.fromEntries(
    Object.entries(resource).flatMap(([key, value]) => {
      const [, name] = /^k8s[.]namespace[.]labels?[.](.+)$/.exec(key) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );

describe('the labels of a namespace', () => {
  const listed = () => ({ 'kubernetes.io/metadata.name': namespace, team: 'checkout' });

  it('are attributes of what its pods send, if the setting lists them', async () => {
    await eventually(async () => expect(getLabels(await forward(telemetry, {}))).toEqual(listed()));
  });

  it('follow a change', async () => {
    await label(namespace, { team: 'basket' });
    await eventually(async () =>
      expect(getLabels(await forward(telemetry, {}))).toEqual({ ...listed(), team: 'basket' }),
    );
    await label(namespace, { team: null });
    await eventually(async () => expect(Object.keys(getLabels(await forward(telemetry, {})))).not.toContain('team'));
    await label(namespace, { team: 'checkout' });
    await eventually(async () => expect(getLabels(await forward(telemetry, {}))).toEqual(listed()));
  });

  it('replace no attribute that a program sets itself', async () => {
    const own = { 'k8s.namespace.label.team': 'own', 'k8s.namespace.label.more': 'own' };
    expect(getLabels(await forward(telemetry, own))).toEqual({ ...listed(), team: 'own', more: 'own' });
  });
});

describe('a sender behind NAT', () => {
  const address = '127.0.0.9';

  it('has the attributes of the pod that it names', async () => {
    const found = {
      'k8s.namespace.label.team': 'checkout',
      'k8s.deployment.name': 'cart',
      'k8s.pod.uid': cart,
      'k8s.namespace.name': namespace,
    };
    await eventually(async () =>
      expect(await forward(telemetry, { 'k8s.pod.uid': cart }, { address })).toMatchObject(found),
    );
  });

  it.each([
    ['uid', () => ({ 'k8s.pod.uid': vault })],
    ['uid and namespace', () => ({ 'k8s.pod.uid': vault, 'k8s.namespace.name': others })],
    ['namespace', () => ({ 'k8s.namespace.name': others })],
  ])("learns nothing of another namespace's pod or labels by their %s [F28]", async (_claim, claimed) => {
    // Its own sender finds it, so the collector knows it.
    await eventually(async () =>
      expect(await forward(telemetry, { 'k8s.pod.uid': vault }, { address, token: getToken(9) })).toMatchObject({
        'k8s.deployment.name': 'vault',
        'k8s.namespace.label.team': 'vault',
      }),
    );
    const resource = await forward(telemetry, { ...claimed(), 'service.name': 'own' }, { address });
    expect(JSON.stringify(resource)).not.toContain('vault');
    expect(getLabels(resource)).toEqual({});
    expect(resource).toMatchObject({ 'service.name': 'own', ...claimed() });
  });
});
