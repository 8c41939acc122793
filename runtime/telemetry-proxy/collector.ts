import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { orUndefined } from '../json/values.ts';
import type { Shared } from '../manager/runnable.ts';
import { getLocal } from '../serving/get-local.ts';
import { toFile, type Folder, type ProxySettings } from './types.ts';

/** The start time tells a process from a later one with the same number. */
export interface CollectorProcess {
  readonly pid: number;
  readonly began: string;
}

/** Finds a collector by its arguments, but not the former one. The containers of the pod share a process list. */
export function findCollector(settings: Folder, former?: string): CollectorProcess | undefined {
  const argument = `--config=${toFile(settings, 'configuration')}`;
  for (const entry of orUndefined(() => readdirSync('/proc')) ?? []) {
    const words = read(`/proc/${entry}/cmdline`).split('\0');
    if (!words.includes(argument)) continue;
    const pid = Number(entry);
    const began = beganAt(pid);
    if (began !== undefined && began !== former) return { pid, began };
  }
  return undefined;
}

export const runs = ({ pid, began }: CollectorProcess): boolean => beganAt(pid) === began;

/** Returns undefined also for a process that ended, and whose parent did not notice yet. */
export function beganAt(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name is in brackets and may have any character. The state follows it, and 18 fields later the start time.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? undefined : fields[18];
}

const read = (file: string) => orUndefined(() => readFileSync(file, 'utf8')) ?? '';

/** SIGHUP asks it to reload. */
export const kill = (collector: CollectorProcess | undefined, signal: 'SIGHUP' | 'SIGKILL'): boolean =>
  collector !== undefined && orUndefined(() => process.kill(collector.pid, signal)) === true;

/** Kubernetes stops the telemetry proxy a moment before the drain is over. That takes a second or less. */
const END_MS = 10_000;

/** Kills a collector that hangs, as after a stop during a reload. Unsent data is on disk. */
export async function endCollector({ config, logger }: Shared): Promise<void> {
  const collector = findCollector(config);
  if (collector === undefined) return;
  for (const deadline = Date.now() + END_MS; Date.now() < deadline; await sleep(100))
    if (!runs(collector) || (await upSince(config)) !== undefined) return;
  kill(collector, 'SIGKILL');
  logger.warn({}, 'telemetry proxy did not stop in time, killed it');
}

type Health = Pick<ProxySettings, 'listenAddress' | 'telemetryHealthPort'>;
const toHealth = ({ listenAddress: host, telemetryHealthPort: port }: Health) => ({ host: host || '127.0.0.1', port });

/** Resolves when the components have stopped: then the collector closes this connection. Without a collector it resolves at once. */
export const waitForStop = (settings: Health): Promise<unknown> =>
  new Promise((done) => connect(toHealth(settings)).on('error', done).on('close', done).resume().unref());

/** Returns since when the components are up; undefined: they are not. Each reload changes it. */
export async function upSince(settings: Health) {
  try {
    const response = await getLocal({ ...toHealth(settings), path: '/' });
    const answer = (await json(response)) as { upSince?: string };
    return response.statusCode === 200 ? answer.upSince : undefined;
  } catch {
    return undefined;
  }
}
