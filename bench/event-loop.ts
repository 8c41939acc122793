import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '../sandbox/testing/eventually.ts';

const file = join(tmpdir(), `bench-event-loop-${process.pid}.json`);
const POLL_MS = 20;

/** The options of a measured process: the flag of Node.js, and the file for `BENCH_EVENT_LOOP` in its environment. */
export const measuredEventLoop = { option: `--import=${resolve('bench/event-loop-probe.mjs')}`, file };

/** The delay of an event loop, in milliseconds. */
export interface Lateness {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export async function measureLateness<T>(
  pid: number,
  action: () => Promise<T>,
): Promise<{ result: T; lateness: Lateness }> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const result = await action();
  process.kill(pid, 'SIGUSR2');
  const lateness = await eventually(() => JSON.parse(readFileSync(file, 'utf8')) as Lateness, { intervalMs: POLL_MS });
  rmSync(file);
  return { result, lateness };
}
