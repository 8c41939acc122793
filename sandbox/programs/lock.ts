import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file in a lock's folder that says which process holds it. */
const OWNER = 'pid';
const FRESH_MS = 5_000;

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
