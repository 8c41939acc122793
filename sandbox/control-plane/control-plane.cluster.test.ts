import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, statSync } from 'node:fs';
import { eventually } from '../testing/eventually.ts';
import { isAlive, startScript } from '../run.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

let cluster: ControlPlane;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(() => cluster?.stop());

describe('a control plane', () => {
  it('shows its credentials to no other user', () => {
    expect(statSync(cluster.kubeconfig).mode & 0o077).toBe(0);
    expect(statSync(cluster.dir).mode & 0o077).toBe(0);
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
