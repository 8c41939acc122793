import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { startArena, type Arena } from './arena.ts';
import { randomOf, seedOf } from './random.ts';
import { renderDetails, renderVerdicts } from './report.ts';
import { runScenario } from './run.ts';
import { faultsOf, type Scenario } from './scenario.ts';

const LONGEST_MS = 300_000;

/** The faults of a group, in their everyday size, as one test each; the full size is `npm run test:faults`. */
export function describeGroup(title: string, group: readonly Scenario[]): void {
  describe(title, () => {
    let arena: Arena | undefined;
    const seed = seedOf(process.env);
    beforeAll(async () => {
      arena = await startArena();
    });
    afterAll(() => arena?.stop());

    it.each(group.map((scenario) => [scenario.holds, scenario] as const))(
      '%s',
      async (_holds, scenario) => {
        if (arena === undefined) throw new Error('the cluster of this group did not start');
        const verdict = await runScenario(arena, scenario, {
          size: 'short',
          random: randomOf(seed),
          say: () => undefined,
        });
        if (faultsOf(verdict) > 0) throw new Error(`${renderVerdicts([verdict])}\n${renderDetails(verdict)}`);
      },
      LONGEST_MS,
    );
  });
}
