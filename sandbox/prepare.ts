import { ensureBundle } from '../infra/bundle.ts';
import { describeError } from '../runtime/wording/errors.ts';
import { ensureImages } from './images/images.ts';
import { whyNoNode } from './node/requirements.ts';
import { ensureBinaries } from './programs/build.ts';
import { components, fluxComponents, nodeComponents, releaseComponents } from './programs/components.ts';

/** Before the tests: whatever they run against is built, and whoever waits sees what for; with `--gitops` Flux as well. */
const say = (line: string): void => void process.stderr.write(`  ${line}\n`);
try {
  await ensureBundle();
  const onNode = whyNoNode() === undefined ? nodeComponents : [];
  const onRequest = process.argv.includes('--gitops') ? fluxComponents : [];
  await ensureBinaries(
    [...components, ...onNode, ...releaseComponents, ...onRequest].map(({ name }) => name),
    say,
  );
  if (whyNoNode() === undefined) await ensureImages(say);
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
