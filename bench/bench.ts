import { mkdirSync, writeFileSync } from 'node:fs';
import { createProgram, runMain } from '../sandbox/program.ts';
import { measureChanges, measureIdle } from './measure-changes.ts';
import { measureCrowd } from './measure-crowd.ts';
import { measureMany } from './measure-many.ts';
import { measureReviews } from './measure-reviews.ts';
import { measureTelemetry } from './measure-telemetry.ts';
import { soak } from './soak.ts';
import { withSurroundings } from './surroundings.ts';
import { render, type Figure } from './table.ts';

interface Flags {
  readonly workloads: string;
  readonly soak?: string;
  readonly many?: boolean;
  readonly telemetry?: boolean;
}

const say = (line: string): void => void process.stderr.write(`  ${line}\n`);

function measure({ workloads, ...only }: Flags): Promise<Figure[]> {
  const counts = workloads.split(',').map(Number);
  if (counts.some((count) => !Number.isInteger(count) || count < 1))
    throw new Error(`--workloads takes whole numbers, separated by commas, not '${workloads}'`);
  if (only.soak !== undefined && !(Number(only.soak) > 0))
    throw new Error(`--soak takes a number of seconds, not '${only.soak}'`);
  if (only.telemetry === true) return measureTelemetry(say);
  if (only.many === true) return withSurroundings(say, measureMany);
  if (only.soak !== undefined) return withSurroundings(say, (there) => soak(there, Number(only.soak)));
  return withSurroundings(say, async (there) => [
    ...(await measureIdle(there)),
    ...(await measureReviews(there, counts[0] ?? 1_000)),
    ...(await measureChanges(there, counts)),
    ...(await measureCrowd(there)),
  ]);
}

/** `npm run bench`: measures the figures of docs/contributing/performance.md. Only a soak can fail. */
async function bench(flags: Flags): Promise<void> {
  const figures = await measure(flags);
  process.stdout.write(`\n${render(figures)}\n`);
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/bench.json', `${JSON.stringify(figures, null, 2)}\n`);
  const isMissed = figures.some(({ value, target = Infinity }) => !(value <= target));
  if (flags.soak !== undefined && isMissed) process.exitCode = 1;
}

const program = createProgram('bench', 'Measures the operator on a real API server on this machine and prints a table')
  .option('--workloads <counts>', 'numbers of Deployments to instrument, one run for each number', '1000')
  .option('--soak <seconds>', 'only change workloads for this time; exits with 1 if a target is missed')
  .option('--many', 'only measure 100 namespaces, 200 creates at once and changes of a Lumigo')
  .option('--telemetry', 'only measure the throughput of the telemetry proxy of one replica')
  .action(bench);

await runMain(() => program.parseAsync());
process.exit();
