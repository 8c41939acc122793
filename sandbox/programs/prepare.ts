import { ensureBundle } from '../../infra/release/bundle.ts';
import { ensureImages } from '../images/images.ts';
import { whyNoNode } from '../node/requirements.ts';
import { runMain } from '../program.ts';
import { ensureBinaries } from './build.ts';
import { components, fluxComponents, nodeComponents, releaseComponents, validators } from './components.ts';

/** Builds what the tests run against, and says what it builds. `--node` adds the parts of a node, `--gitops` Flux. */
const say = (line: string): void => void process.stderr.write(`  ${line}\n`);
await runMain(async () => {
  const hasNode = process.argv.includes('--node');
  const why = hasNode ? whyNoNode() : undefined;
  if (why !== undefined) throw new Error(why);
  await ensureBundle();
  const onNode = hasNode ? nodeComponents : [];
  const onRequest = process.argv.includes('--gitops') ? fluxComponents : [];
  await ensureBinaries(
    [...components, ...onNode, ...releaseComponents, ...validators, ...onRequest].map(({ name }) => name),
    say,
  );
  if (hasNode) await ensureImages(say);
});
