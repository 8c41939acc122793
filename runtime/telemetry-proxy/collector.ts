import { readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that runs, told apart from a later one with the same number. */
export interface CollectorProcess {
  readonly pid: number;
  /** When it began, in the system's own count. */
  readonly began: string;
}

/**
 * The process that runs with a configuration file, looked for in the process list: the containers of the pod share one
 * (`shareProcessNamespace`). Undefined while there is none.
 */
export function findCollector(configurationFile: string): CollectorProcess | undefined {
  for (const entry of list('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const words = read(`/proc/${pid}/cmdline`).split('\0');
    if (!words.includes(`--config=${configurationFile}`)) continue;
    const began = beganAt(pid);
    if (began !== undefined) return { pid, began };
  }
  return undefined;
}

export const isSame = (a: CollectorProcess, b: CollectorProcess): boolean => a.pid === b.pid && a.began === b.began;

/** Whether it is that process still. */
export const runs = ({ pid, began }: CollectorProcess): boolean => beganAt(pid) === began;

/** When a process began; undefined when there is none, or one that has ended and was not yet noticed by its parent. */
export function beganAt(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // After the name, which stands in brackets and may hold anything: the state, and 18 fields on the start in clock ticks.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? undefined : fields[18];
}

const list = (folder: string) => orElse([], () => readdirSync(folder));
const read = (file: string) => orElse('', () => readFileSync(file, 'utf8'));

/** Processes and their files come and go at any moment. */
function orElse<T>(gone: NoInfer<T>, action: () => T): T {
  try {
    return action();
  } catch {
    return gone;
  }
}

/** Asks the collector to read its configuration again. False when it is gone. */
export const askToReload = ({ pid }: CollectorProcess): boolean =>
  orElse<boolean>(false, () => process.kill(pid, 'SIGHUP'));

const POLL_MS = 100;

/**
 * Waits until the collector has ended, unless it is up: then nobody has told it to stop, and this container goes alone. One that
 * has not ended after a while will not (it happens that a reload hangs when it is told to stop), and would hold up its pod for as
 * long as that may take. What it has not sent is on disk. Returns whether it had to be ended.
 */
export async function whenEnded(
  configurationFile: string,
  isUp: () => Promise<boolean>,
  patienceMs: number,
): Promise<boolean> {
  const collector = findCollector(configurationFile);
  if (collector === undefined) return false;
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(POLL_MS))
    if (!runs(collector) || (await isUp())) return false;
  end(collector);
  return true;
}

/** Without another word. */
export const end = ({ pid }: CollectorProcess): boolean => orElse<boolean>(false, () => process.kill(pid, 'SIGKILL'));

const ANSWER_MS = 2_000;

/** Since when the collector's components are up (its `upSince`), which each reload begins anew; undefined while they are not. */
export function upSince(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const nothing = () => resolve(undefined);
    const sent = get({ host, port, path: '/', timeout: ANSWER_MS }, (response) => {
      const answer = json(response) as Promise<{ upSince?: string }>;
      answer.then(({ upSince: since }) => resolve(response.statusCode === 200 ? since : undefined)).catch(nothing);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', nothing);
  });
}
