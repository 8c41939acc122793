import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyFileSync, mkdirSync } from 'node:fs';
import type { Fault } from './faults.ts';
import { fuzz } from '../testing/fuzz.ts';
import { createRandom } from './random.ts';
import { startTestbed, type Testbed } from './testbed.ts';
import { FaultRun } from './fault-run.ts';

const { seed } = fuzz;
const { LUMIGO_FAULTS: size = 'everyday' } = process.env;
const isFull = size === 'full';
const LONGEST_MS = isFull ? 1_800_000 : 300_000;
const RUNNING = isFull ? 12 : 4;
const BOUND_MS = isFull ? 90_000 : 45_000;
const KINDS = ['lost', 'duplicate', 'unreported', 'restarted', 'stuck', 'broken'];

export function describeGroup(title: string, group: readonly Fault[]): void {
  describe(title, () => {
    let testbed: Testbed;
    beforeAll(async () => {
      testbed = await startTestbed();
    });
    afterAll(() => testbed?.stop());

    it.each(group.map((fault) => [fault.name, fault.holds, fault] as const))(
      '%s: %s',
      async (name, _holds, fault) => {
        // Otherwise all faults of one seed would begin with the same choice.
        const random = createRandom(seed + name.length);
        const faultRun = new FaultRun(testbed, { running: fault.pods ? RUNNING : 0, boundMs: BOUND_MS, random });
        const { findings, figures } = await faultRun.verdict(() => fault.inject(faultRun, isFull));
        const counts = KINDS.map((kind) => findings.filter((each) => each.startsWith(kind)).length);
        if (isFull) process.stderr.write(`| ${[name, ...counts, JSON.stringify(figures)].join(' | ')} |\n`);
        if (findings.length > 0) {
          mkdirSync('dist', { recursive: true });
          copyFileSync(testbed.operator.manager().logFile, `dist/faults-${name}.log`);
        }
        expect({ seed, findings }).toEqual({ seed, findings: [] });
      },
      LONGEST_MS,
    );
  });
}
