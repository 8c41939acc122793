import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../programs/cache.ts';
import { isRunning, stateIn, type SandboxProcess } from '../state.ts';

const PATIENCE_MS = 5_000;

export const defaultDir = (): string => join(cacheFolder(process.env), 'sandbox');

/** Ends a sandbox and deletes its folder. The manager ends first, the API server and etcd last. */
export async function down({ dir: given }: { readonly dir: string }): Promise<void> {
  const dir = resolve(given);
  const { processes, cleanup } = stateIn(dir);
  for (const process of processes) await end(process);
  spawnSync('sh', ['-c', cleanup]);
  rmSync(dir, { recursive: true, force: true });
  process.stderr.write(`The sandbox in ${dir} is removed.\n`);
}

async function end(target: SandboxProcess): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isRunning(target)) return;
    process.kill(target.pid, signal);
    const deadline = Date.now() + PATIENCE_MS;
    while (isRunning(target) && Date.now() < deadline) await sleep(50);
  }
}
