import { mkdirSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { describeError } from '../runtime/wording/errors.ts';
import { measureAgainst } from './against.ts';
import { measureChanges } from './measure-changes.ts';
import { measureCrowd } from './measure-crowd.ts';
import { measureGuard } from './measure-guard.ts';
import { measureIdle } from './measure-idle.ts';
import { measureMany } from './measure-many.ts';
import { measurePods } from './measure-pods.ts';
import { measureReviews } from './measure-reviews.ts';
import { measureTelemetry } from './measure-telemetry.ts';
import { soak } from './soak.ts';
import { withSurroundings, type Surroundings } from './surroundings.ts';
import { plot } from './plot.ts';
import { render, type Figure } from './table.ts';

interface Flags {
  readonly workloads: string;
  readonly idleSeconds: string;
  readonly against?: string;
  readonly soak?: string;
  readonly many?: boolean;
  readonly telemetry?: boolean;
  readonly guard?: boolean;
  readonly pods?: boolean;
  readonly plot?: boolean;
}

const pictures = [
  {
    ...{ file: 'docs/contributing/performance-time.svg', title: 'Time over existing Deployments', unit: 's' },
    names: ['bare loop of patches', 'instrumenting', 'uninstrumenting'],
  },
  {
    ...{ file: 'docs/contributing/performance-memory.svg', title: 'Peak resident memory of the manager', unit: 'MB' },
    names: ['peak resident'],
  },
];

function draw(figures: readonly Figure[]): void {
  for (const { file, title, unit, names } of pictures) {
    const series = names.map((name) => ({
      name,
      points: figures.filter((each) => each.name === name).map(({ count = 0, value }) => ({ x: count, y: value })),
    }));
    writeFileSync(file, plot({ title, unit, series }));
  }
}

/** `npm run bench`: what docs/contributing/performance.md reports, measured here. It prints figures and judges nothing. */
new Command('bench')
  .description('Measures the operator on a real API server on this machine and prints a table')
  .option('--workloads <counts>', 'numbers of Deployments to instrument, one run for each number', '1000')
  .option('--idle-seconds <seconds>', 'time to watch the idle manager', '60')
  .option('--against <command>', 'only compare with another operator for Lumigo resources')
  .option('--soak <seconds>', 'only change workloads for this time; exits with 1 if a target is missed')
  .option('--many', 'only measure 100 namespaces, 200 creates at once and changes of a Lumigo')
  .option('--telemetry', 'only measure the throughput of the telemetry proxy of one replica')
  .option('--guard', 'only measure updates with and without the guard')
  .option('--pods', 'only measure creations of pods with and without Pod mode')
  .option('--plot', 'draw time and memory for each number into docs/contributing/performance-*.svg')
  .showHelpAfterError('(--help lists the flags)')
  .action(
    async ({
      workloads,
      idleSeconds,
      against,
      soak: soakSeconds,
      many,
      telemetry,
      guard,
      pods,
      plot: isDrawn,
    }: Flags) => {
      const say = (line: string) => void process.stderr.write(`  ${line}\n`);
      const counts = workloads.split(',').map(Number);
      if (counts.some((count) => !Number.isInteger(count) || count < 1))
        throw new Error(`--workloads takes whole numbers, separated by commas, not '${workloads}'`);
      const measured = async (there: Surroundings): Promise<Figure[]> => {
        if (many === true) return measureMany(there);
        if (soakSeconds !== undefined) return soak(there, Number(soakSeconds));
        if (against !== undefined) return measureAgainst(there, against, counts);
        return [
          ...(await measureIdle(there, Number(idleSeconds))),
          ...(await measureReviews(there, counts[0] ?? 1_000)),
          ...(await measureChanges(there, counts)),
          ...(await measureCrowd(there)),
        ];
      };
      const alone = [
        telemetry === true && measureTelemetry,
        guard === true && measureGuard,
        pods === true && measurePods,
      ].find((each) => each !== false);
      const figures = alone === undefined ? await withSurroundings(say, measured) : await alone(say);
      process.stdout.write(`\n${render(figures)}\n`);
      if (soakSeconds !== undefined && figures.some(({ value, target = Infinity }) => !(value <= target)))
        process.exitCode = 1;
      mkdirSync('dist', { recursive: true });
      if (isDrawn === true) draw(figures);
      writeFileSync('dist/bench.json', `${JSON.stringify(figures, null, 2)}\n`);
    },
  )
  .parseAsync()
  .then(
    () => process.exit(),
    (error: unknown) => {
      process.stderr.write(`bench: ${describeError(error)}\n`);
      process.exit(1);
    },
  );
