import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../programs/lock.ts';

/** The number of a node on this machine. Addresses and names that could collide with another node's derive from it. */
export type Slot = ReturnType<typeof getSlot>;

const SLOTS = 50;
export const nodesFolder = '/run/lumigo-sandbox';

/** Takes the lowest free number on this machine. The cleanup of the node releases its lock (`toCleanup`). */
export function takeSlot(): Slot {
  mkdirSync(nodesFolder, { recursive: true });
  for (let number = 0; number < SLOTS; number += 1) {
    const slot = getSlot(number);
    if (!existsSync(`/sys/class/net/${slot.link}`) && takeLock(slot.lock)) return slot;
  }
  throw new Error(`${SLOTS} nodes run on this machine already; end one with 'npm run sandbox -- down'`);
}

/** The third byte of each range is the number, so two nodes never share an address. */
const getSlot = (number: number) => ({
  number,
  lock: join(nodesFolder, `node-${number}`),
  link: `lumigo${number}`,
  hostAddress: `10.246.${number}.254`,
  nodeAddress: `10.246.${number}.1`,
  serviceRange: `10.97.${number}.0/24`,
  serviceAddress: `10.97.${number}.1`,
  dnsAddress: `10.97.${number}.10`,
  podRange: `10.245.${number}.0/24`,
  cgroup: `lumigo-sandbox-${number}`,
});
