import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { describeError } from '../../runtime/wording/errors.ts';
import { startArena, type Arena } from './arena.ts';
import { randomOf, seedOf } from './random.ts';
import { renderDetails, renderVerdicts } from './report.ts';
import { runScenario } from './run.ts';
import { faultsOf, type Scenario, type Verdict } from './scenario.ts';
import { groups } from './scenarios/scenarios.ts';

const REPORT = 'dist/faults.json';
const TABLE = 'dist/faults.md';

/** Writes what there is so far; of a fault that does not hold also what the manager had to say. */
function keep(verdicts: readonly Verdict[], { operator }: Arena, say: (line: string) => void): void {
  const last = verdicts.at(-1);
  if (last === undefined) return;
  say(`${renderDetails(last)}\n`);
  mkdirSync('dist', { recursive: true });
  writeFileSync(REPORT, `${JSON.stringify(verdicts, null, 2)}\n`);
  writeFileSync(TABLE, renderVerdicts(verdicts));
  if (faultsOf(last) > 0) copyFileSync(operator.manager().logFile, `dist/faults-${last.name}.log`);
}

/** `npm run test:faults`: what docs/contributing/reliability.md reports, tried here. */
new Command('faults')
  .description('Injects faults around a real operator, one after the other, and counts their effects on the workloads')
  .argument('[names...]', 'run only the faults whose names begin with one of these')
  .option('--short', 'use the sizes of the everyday tests')
  .showHelpAfterError('(--help lists the flags)')
  .action(async (names: readonly string[], { short = false }: { short?: boolean }) => {
    const say = (line: string) => void process.stderr.write(`  ${line}\n`);
    const seed = seedOf(process.env);
    say(`set LUMIGO_FAULT_SEED=${seed} to repeat this run`);
    const verdicts: Verdict[] = [];
    const isAsked = ({ name }: Scenario) => names.length === 0 || names.some((prefix) => name.startsWith(prefix));
    for (const scenarios of Object.values<readonly Scenario[]>(groups)) {
      const asked = scenarios.filter(isAsked);
      if (asked.length === 0) continue;
      const started = await startArena();
      try {
        for (const scenario of asked) {
          say(`${scenario.name}: ${scenario.holds}`);
          verdicts.push(
            await runScenario(started, scenario, { size: short ? 'short' : 'full', random: randomOf(seed), say }),
          );
          keep(verdicts, started, say);
        }
      } finally {
        await started.stop();
      }
    }
    process.stdout.write(`\n${renderVerdicts(verdicts)}\nSeed: ${seed}. Details: ${REPORT}\n`);
    process.exitCode = verdicts.every((verdict) => faultsOf(verdict) === 0) ? 0 : 1;
  })
  .parseAsync()
  .then(
    () => process.exit(),
    (error: unknown) => {
      process.stderr.write(`faults: ${describeError(error)}\n`);
      process.exit(1);
    },
  );
