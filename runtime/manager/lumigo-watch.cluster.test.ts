import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { install } from '../../sandbox/manager/install.ts';
import { startManager, type Manager } from '../../sandbox/manager/manager.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { workloadKinds } from '../contract.ts';

const isDefinition = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition';
const { deployment } = workloadKinds;

let cluster: ControlPlane;
let manager: Manager | undefined;
beforeAll(async () => {
  await ensureBundle();
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(async () => {
  await manager?.stop();
  await cluster?.stop();
});

describe('a manager that starts before the definition of Lumigo resources exists', () => {
  it('is ready, so that neither waits for the other, and works within seconds of the definition', async () => {
    const [webhook = 0] = await freePorts(1);
    const installation = await install(cluster.client, { webhook, only: (manifest) => !isDefinition(manifest) });
    manager = await startManager(cluster, installation, { webhookPort: webhook });
    await install(cluster.client, { only: isDefinition });
    const testCluster = new TestCluster(cluster.client);
    const namespace = await testCluster.namespace('shop');
    const defined = performance.now();
    await testCluster.activate(namespace);
    expect(performance.now() - defined).toBeLessThan(10_000);
    await testCluster.waitForWebhook(namespace);
    await testCluster.create(createWorkload(deployment, namespace, 'app'));
    expect(await testCluster.isInstrumented(deployment, namespace, 'app')).toBe(true);
  });
});
