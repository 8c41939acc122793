import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { releaseLock, takeLock } from './lock.ts';

const LOOK_MS = 5_000;

/** Makes what a path names unless it is there; of several processes that want it, one makes it and the others wait. */
export async function oneAtATime(target: string, waiting: () => void, make: () => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  const lock = `${target}.building`;
  mkdirSync(dirname(target), { recursive: true });
  while (!takeLock(lock)) {
    waiting();
    await sleep(LOOK_MS);
    if (existsSync(target)) return;
  }
  try {
    if (!existsSync(target)) await make();
  } finally {
    releaseLock(lock);
  }
}
