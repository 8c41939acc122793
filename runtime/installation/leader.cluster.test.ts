import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import type { LeaseSpec } from '../kubernetes/lease/plan-lease.ts';
import { getLease } from './installation.ts';
import { findLeader, lookAtLease } from './leader.ts';

let cluster: ControlPlane;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(() => cluster?.stop());

const clocks = ['1970-01-01T00:00:00.000000Z', '2999-01-01T00:00:00.000000Z'];

/** Each test has its own Lease. */
async function createLease(operatorName: string, given: LeaseSpec) {
  const installed = { operatorName, operatorNamespace: 'default' };
  const ref = getLease(installed);
  const metadata = { name: ref.name, namespace: ref.namespace };
  const spec = { holderIdentity: 'pod-1', leaseDurationSeconds: 2, ...given };
  await cluster.client.create({ ...ref, name: undefined }, { ...leaseType, metadata, spec });
  const renew = (renewTime: string, leaseTransitions: number) =>
    cluster.client.patch(ref, { kind: 'merge', body: { spec: { renewTime, leaseTransitions } } });
  return { installed, ref, renew };
}
const leaseType = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

it.each(clocks)('finds no leader in a Lease that does not change, with the time %s', async (renewTime) => {
  const { installed } = await createLease(`dead-${renewTime.slice(0, 4)}`, { renewTime });
  expect(await findLeader(cluster.client, installed)).toBeUndefined();
});

it.each(clocks)('finds the leader in a Lease that changes, with the time %s', async (renewTime) => {
  const { installed, ref, renew } = await createLease(`live-${renewTime.slice(0, 4)}`, { renewTime });
  expect(await lookAtLease(cluster.client, ref, undefined)).toMatchObject({ isHeld: true });
  let found: string | undefined | false = false;
  const finding = findLeader(cluster.client, installed).then((leader) => (found = leader));
  for (let transitions = 1; found === false; transitions += 1) await renew(renewTime, transitions);
  expect(await finding).toBe('pod-1');
});

it('finds the leader of a fresh Lease at once', async () => {
  const { installed } = await createLease('fresh', { renewTime: new Date().toISOString().replace('Z', '000Z') });
  // The Lease does not change, so a later look would find no leader.
  expect(await findLeader(cluster.client, installed)).toBe('pod-1');
});

it('finds no leader at once without a Lease, or if its holder has released it', async () => {
  const none = { operatorName: 'none', operatorNamespace: 'default' };
  expect(await findLeader(cluster.client, none)).toBeUndefined();
  const { installed, ref } = await createLease('released', { holderIdentity: '' });
  expect(await findLeader(cluster.client, installed)).toBeUndefined();
  expect(await lookAtLease(cluster.client, ref, undefined)).toMatchObject({ isHeld: false });
});
