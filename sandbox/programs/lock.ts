import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const OWNER = 'pid';
const FRESH_MS = 5_000;
const POLL_MS = 5_000;

/** Takes a lock, also one that a dead process left. In a rare race two processes take it, so their work must tolerate that. */
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
  // The lock is new, and its owner is not written yet.
  if (!existsSync(owner)) return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < FRESH_MS;
  try {
    return process.kill(Number(readFileSync(owner, 'utf8')), 0);
  } catch {
    return false;
  }
}

/** Creates a path unless it exists. If several processes need it, one creates it and the others wait. */
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
