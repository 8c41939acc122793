import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyFileSync, mkdirSync } from 'node:fs';
import { fuzz } from '../testing/fuzz.ts';
import { FaultRun, isFull } from './fault-run.ts';
import type { Fault } from './faults.ts';
import { createRandom } from './random.ts';
import { startTestbed, type Testbed } from './testbed.ts';

const { seed } = fuzz;
const LONGEST_MS = isFull ? 1_800_000 : 300_000;
const KINDS = ['lost', 'duplicate', 'unreported', 'restarted', 'stuck', 'broken'];

export function describeGroup(title: string, group: Readonly<Record<string, Fault>>): void {
  describe(title, () => {
    let testbed: Testbed;
    beforeAll(async () => {
      testbed = await startTestbed();
    });
    afterAll(() => testbed?.stop());

    it.each(Object.entries(group).map(([name, fault]) => [name, fault.holds, fault] as const))(
      '%s: %s',
      async (name, _holds, { inject }) => {
        // Otherwise all faults of one seed would begin with the same choice.
        const faultRun = new FaultRun(testbed, createRandom(seed + name.length));
        const { findings, figures } = await faultRun.verdict(() => inject(faultRun));
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
