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
  const [p50Ms, p99Ms, maxMs] = [delays.percentile(50), delays.percentile(99), delays.max].map(
    (nanoseconds) => nanoseconds / 1e6 - RESOLUTION_MS,
  );
  delays = undefined;
  writeFileSync(BENCH_EVENT_LOOP, JSON.stringify({ p50Ms, p99Ms, maxMs }));
});
