import { readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks per second of /proc on Linux; the kernel shows 100 to programs everywhere. */
const TICKS = 100;

export interface Usage {
  /** CPU seconds since the process began, in user and kernel. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/** What a process has used, as the Linux kernel counts it; on other systems the bench says that it cannot measure. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
    residentBytes: kilobytes('VmRSS') * 1024,
    peakBytes: kilobytes('VmHWM') * 1024,
  };
}

/** From now on the peak is that of what comes: the kernel forgets the one before. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
