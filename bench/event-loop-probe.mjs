import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';

// The measured manager loads this file, which writes the delay of its event loop between two SIGUSR2 to a file, in milliseconds.
const RESOLUTION_MS = 1;
const { BENCH_EVENT_LOOP = '' } = process.env;
let delays;
process.on('SIGUSR2', () => {
  if (delays === undefined) {
    delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delays.enable();
    return;
  }
  delays.disable();
  const toMs = (nanoseconds) => nanoseconds / 1e6 - RESOLUTION_MS;
  const lateness = { p99Ms: toMs(delays.percentile(99)), maxMs: toMs(delays.max) };
  delays = undefined;
  writeFileSync(BENCH_EVENT_LOOP, JSON.stringify(lateness));
});
