import { describe, expect, it } from '@jest/globals';
import { existsSync, statSync } from 'node:fs';
import { eventually } from '../testing/eventually.ts';
import { isAlive, startScript } from '../run.ts';
import { startControlPlane } from './control-plane.ts';

describe('a control plane', () => {
  const expectGone = (dir: string, pids: readonly number[]) =>
    eventually(
      () => {
        expect(pids.filter(isAlive)).toEqual([]);
        expect(existsSync(dir)).toBe(false);
      },
      { timeoutMs: 60_000 },
    );

  it('shows its credentials to no other user, and leaves no process or file after stop', async () => {
    const cluster = await startControlPlane({ controllerManager: false });
    for (const path of [cluster.kubeconfig, cluster.dir]) expect(statSync(path).mode & 0o077).toBe(0);
    const pids = Object.values(cluster.pids());
    expect(pids.every(isAlive)).toBe(true);
    await cluster.stop();
    await expectGone(cluster.dir, pids);
  });

  it('leaves no process or file after SIGKILL to the process that started it', async () => {
    const parent = startScript('sandbox/testing/hold-control-plane.ts', []);
    const said = await new Promise<string>((resolve) =>
      parent.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString())),
    );
    const { dir, pids } = JSON.parse(said) as { dir: string; pids: Record<string, number> };
    expect(Object.values(pids).every(isAlive)).toBe(true);
    parent.kill('SIGKILL');
    await expectGone(dir, Object.values(pids));
  });
});
