import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { toRef } from '../../sandbox/manager/apply.ts';
import { install, type Installation } from '../../sandbox/manager/install.ts';
import { managerTransport } from '../../sandbox/manager/service-account.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { installedAs } from '../../sandbox/testing/protection.ts';
import { cleanupFinalizer, suffixes } from '../contract.ts';
import type { ApiRequest, Transport } from '../kubernetes/http/transport.ts';
import { protectedObjects } from './protected-objects.ts';
import { cleanUpOnShutdown } from './shutdown-cleanup.ts';

let cluster: ControlPlane;
let installation: Installation;
beforeAll(async () => {
  cluster = await startControlPlane({ audit: true });
});
beforeEach(async () => {
  installation = await install(cluster.client, {});
});
afterAll(() => cluster?.stop());

/** Longer than the interval between two signs that a replica still cleans up. */
const SLOW_MS = 4_000;

async function removeWhileHeld(): Promise<void> {
  const held = protectedObjects(installedAs(installation));
  for (const ref of held)
    await cluster.client.patch(ref, { kind: 'merge', body: { metadata: { finalizers: [cleanupFinalizer] } } });
  const deployments = installation.manifests.filter(({ kind }) => kind === 'Deployment').map(toRef);
  for (const ref of [...deployments, ...held]) await cluster.client.delete(ref);
}

const letsAccountGo = ({ method, path, body }: ApiRequest): boolean =>
  method === 'PATCH' && path.endsWith(suffixes.manager) && JSON.stringify(body).includes('/metadata/finalizers');

describe('the clean-up at the end', () => {
  it('sends nothing as a released account, however late it learns of the release', async () => {
    await removeWhileHeld();
    const transport = await managerTransport(cluster, installation);
    let letGoAt = '';
    const slow: Transport = {
      ...transport,
      async request(request) {
        const answer = await transport.request(request);
        if (!letsAccountGo(request)) return answer;
        letGoAt = new Date().toISOString();
        await sleep(SLOW_MS);
        return answer;
      },
    };
    const logger = pino({ enabled: false });
    const installed = installedAs(installation);
    await cleanUpOnShutdown({ transport: slow, installed, identity: 'replica', removalDeadlineMs: 1_000, logger });
    transport.close();
    const requests = operatorRequests(cluster, installation);
    expect(requests).not.toEqual([]);
    expect(letGoAt).not.toBe('');
    expect(requests.filter(({ requestReceivedTimestamp: at }) => at > letGoAt)).toEqual([]);
  });

  it('is done by the replica that claims it first, while the other waits for the release [F42]', async () => {
    await removeWhileHeld();
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => void lines.push(line) });
    const shared = { installed: installedAs(installation), removalDeadlineMs: 1_000, logger };
    const replica = async (identity: string): Promise<void> => {
      const transport = await managerTransport(cluster, installation);
      await cleanUpOnShutdown({ ...shared, transport, identity });
      transport.close();
    };
    await Promise.all(['first', 'second'].map(replica));
    expect(lines.filter((line) => line.includes('the operator is being removed'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('failed'))).toEqual([]);
    for (const ref of protectedObjects(shared.installed))
      await eventually(async () => expect(await cluster.client.find(ref)).toBeUndefined());
  });
});
