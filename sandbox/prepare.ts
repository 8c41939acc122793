import { bundle } from '../runtime/bundle.ts';
import { describeError } from '../runtime/errors.ts';
import { ensureBinaries } from './programs/build.ts';
import { components } from './programs/components.ts';

/** Before the tests: whatever they run against is built, and whoever waits sees what for. */
try {
  await bundle();
  await ensureBinaries(
    components.map(({ name }) => name),
    (line) => process.stderr.write(`  ${line}\n`),
  );
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
