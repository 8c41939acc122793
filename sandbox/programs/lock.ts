import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The file in a lock's folder that says which process holds it. */
const OWNER = 'pid';
const FRESH_MS = 5_000;
const POLL_MS = 5_000;

/**
 * Takes a lock that keeps two processes from doing the same work; what a process that is gone has left behind is taken
 * over. In an unlucky moment two may take over the same one: then both work, so the work must bear that.
 */
export function takeLock(lock: string): boolean {
  if (existsSync(lock) && !isHeld(lock)) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, OWNER), String(process.pid));
    return true;
  } catch {
    return false;
  }
}

export const releaseLock = (lock: string): void => rmSync(lock, { recursive: true, force: true });

function isHeld(lock: string): boolean {
  const owner = join(lock, OWNER);
  // Made a moment ago, and its owner not written yet.
  if (!existsSync(owner)) return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < FRESH_MS;
  try {
    return process.kill(Number(readFileSync(owner, 'utf8')), 0);
  } catch {
    return false;
  }
}

/** Makes what a path names unless it is there; of several processes that want it, one makes it and the others wait. */
export async function oneAtATime(target: string, waiting: () => void, make: () => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  const lock = `${target}.building`;
  mkdirSync(dirname(target), { recursive: true });
  while (!takeLock(lock)) {
    waiting();
    await sleep(POLL_MS);
    if (existsSync(target)) return;
  }
  try {
    if (!existsSync(target)) await make();
  } finally {
    releaseLock(lock);
  }
}
