import { connectTo } from './connect.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, statSync } from 'node:fs';
import { createClient } from '../../runtime/kubernetes/http/client.ts';
import { isForbidden } from '../../runtime/kubernetes/http/errors.ts';
import { tokenFor } from '../manager/service-account.ts';
import { eventually } from '../testing/eventually.ts';
import { isAlive, startScript } from '../run.ts';
import { readAudit } from '../testing/audit.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

const namespaces = kinds.namespaces;
let first: ControlPlane;
let second: ControlPlane;
beforeAll(async () => {
  [first, second] = await Promise.all([
    startControlPlane({ audit: true }),
    startControlPlane({ controllerManager: false }),
  ]);
});
afterAll(() => Promise.all([first?.stop(), second?.stop()]));

describe('a control plane', () => {
  it('runs beside another one, independently', async () => {
    await first.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'only-here' } });
    await expect(second.client.get({ ...namespaces, name: 'only-here' })).rejects.toThrow('not found');
  });

  it('has its controllers: a namespace gets its service account, and is deleted whole', async () => {
    const account = { ...kinds.serviceAccounts, namespace: 'only-here', name: 'default' };
    await eventually(() => first.client.get(account));
    await first.client.delete({ ...namespaces, name: 'only-here' });
    await eventually(() => expect(first.client.get({ ...namespaces, name: 'only-here' })).rejects.toThrow('not found'));
  });

  it('has RBAC on: an account without rights is refused', async () => {
    const account = { ...kinds.serviceAccounts, namespace: 'default', name: 'default' };
    await eventually(() => first.client.get(account));
    const transport = connectTo({ ...first, token: await tokenFor(first.client, account) });
    const refused = await createClient(transport)
      .get({ ...namespaces, name: 'default' })
      .catch((error: unknown) => error);
    transport.close();
    expect(isForbidden(refused)).toBe(true);
  });

  it('writes an audit log if asked', () => {
    expect(readAudit(first).map(({ verb }) => verb)).toContain('create');
    expect(existsSync(second.auditLog)).toBe(false);
  });

  it('keeps its data and its address over a restart of the API server', async () => {
    await second.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kept' } });
    const before = second.pids()['apiserver'];
    await second.restartApiServer();
    expect(second.pids()['apiserver']).not.toBe(before);
    expect((await second.client.get({ ...namespaces, name: 'kept' })).metadata.name).toBe('kept');
  });

  it('shows its credentials to no other user', () => {
    expect(statSync(first.kubeconfig).mode & 0o077).toBe(0);
    expect(statSync(first.dir).mode & 0o077).toBe(0);
  });
});

describe('no process or file is left', () => {
  const expectGone = (dir: string, pids: readonly number[]) =>
    eventually(() => {
      expect(pids.filter(isAlive)).toEqual([]);
      expect(existsSync(dir)).toBe(false);
    });

  it('after stop', async () => {
    const cluster = await startControlPlane({ controllerManager: false });
    const pids = Object.values(cluster.pids());
    expect(pids.every(isAlive)).toBe(true);
    await cluster.stop();
    await expectGone(cluster.dir, pids);
  });

  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('after %s to the process that started it', async (signal) => {
    const parent = startScript('sandbox/testing/hold-control-plane.ts', []);
    const said = await new Promise<string>((resolve) =>
      parent.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString())),
    );
    const { dir, pids } = JSON.parse(said) as { dir: string; pids: Record<string, number> };
    expect(Object.values(pids).every(isAlive)).toBe(true);
    parent.kill(signal);
    await expectGone(dir, Object.values(pids));
  });
});
