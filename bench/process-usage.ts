import { readFileSync, writeFileSync } from 'node:fs';

/** Clock ticks per second of /proc on Linux. The kernel shows 100 to programs on each platform. */
const TICKS = 100;

export interface Usage {
  /** CPU seconds since the process began, in user and kernel mode. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/** Returns the usage that the Linux kernel counts. @throws Error on other systems */
export function getUsage(pid: number): Usage {
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

/** Resets the kernel's peak, so the next one is that of later work. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
