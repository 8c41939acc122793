import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { forward } from '../../sandbox/testing/forwarded.ts';
import { podAt } from '../../sandbox/testing/pod-at.ts';
import { getToken, startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

let telemetry: TelemetryBench;
let [namespace, vault, cart] = ['', '', ''];
beforeAll(async () => {
  telemetry = await startTelemetry({
    controllerManager: false,
    settings: { telemetry: { findPodsBehindNat: true } },
  });
  namespace = await telemetry.activate('enriched', getToken(7));
  const others = await telemetry.activate('others', getToken(9));
  vault = await podAt(telemetry.testCluster, '127.0.0.2', { namespace: others, app: 'vault' });
  cart = await podAt(telemetry.testCluster, '127.0.0.1', { namespace, app: 'cart' });
  await telemetry.waitForSettled();
});
afterAll(() => telemetry?.stop());

describe('a sender behind NAT', () => {
  const address = '127.0.0.9';

  it('has the attributes of the pod that it names', async () => {
    const found = { 'k8s.deployment.name': 'cart', 'k8s.pod.uid': cart, 'k8s.namespace.name': namespace };
    await eventually(async () =>
      expect(await forward(telemetry, { 'k8s.pod.uid': cart }, { address })).toMatchObject(found),
    );
  });

  it("learns nothing of another namespace's pod [F28]", async () => {
    // The other pod is known to a sender with its token.
    await eventually(async () =>
      expect(await forward(telemetry, { 'k8s.pod.uid': vault }, { address, token: getToken(9) })).toMatchObject({
        'k8s.deployment.name': 'vault',
      }),
    );
    const resource = await forward(telemetry, { 'k8s.pod.uid': vault, 'service.name': 'own' }, { address });
    expect(JSON.stringify(resource)).not.toContain('vault');
    expect(Object.keys(resource)).not.toContain('k8s.namespace.name');
    expect(resource).toMatchObject({ 'service.name': 'own', 'k8s.pod.uid': vault });
  });
});
