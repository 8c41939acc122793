import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTried, triedFile, type Tried } from '../../infra/generate/tried-versions.ts';
import { createProgram, runMain } from '../program.ts';
import { buildProgram, builtProgram } from '../programs/modules.ts';
import { runJest } from '../run.ts';
import { withFolder } from '../with-folder.ts';
import { withResults } from './result.ts';
import { chosen, shortTests, type Variant } from './variants.ts';

/** `npm run test:matrix`: runs tests with other versions of the API server and of Helm. Exits with 1 if one fails. */
interface Flags {
  readonly short?: boolean;
  readonly built?: boolean;
  readonly keep?: boolean;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(names: readonly string[], { short = false, built = false, keep = false }: Flags): Promise<void> {
  const results: Tried[] = [];
  for (const variant of chosen(names, short)) {
    const label = `${variant.program} ${variant.version}`;
    if (built && variant.components.some((each) => builtProgram(each) === undefined)) {
      say(`${label}: skipped, because it is not built here. \`npm run test:matrix -- ${variant.name}\` builds it`);
      continue;
    }
    const result = await tryWith(variant, short);
    say(`${label}: ${result.passed} passed, ${result.failed.length} failed`);
    results.push(result);
  }
  if (keep) {
    writeFileSync(triedFile, `${JSON.stringify(withResults(readTried(), results), undefined, 2)}\n`);
    say(`wrote ${triedFile}. Run \`npm run generate\` to update docs/contributing/tested-versions.md`);
  }
  writeFileSync(process.env['LUMIGO_TEST_RESULTS'] ?? '/dev/null', JSON.stringify(results));
}

const tryWith = ({ program, version, components, flags: own = [] }: Variant, short: boolean): Promise<Tried> =>
  withFolder(async (folder) => {
    for (const component of components) symlinkSync(await buildProgram(component, say), join(folder, component.name));
    const flags = ['--selectProjects', 'cluster', 'load', ...(short ? ['--testPathPatterns', ...shortTests] : own)];
    const outcome = runJest(flags, { KUBEBUILDER_ASSETS: folder, LUMIGO_TEST_RESULTS: join(folder, 'results.json') });
    const date = new Date().toISOString().slice(0, 10);
    return { program, version, date, ...(short ? { isShort: true } : {}), ...outcome };
  });

const program = createProgram('test:matrix', 'Runs tests with other versions of the API server and of Helm')
  .argument('[versions...]', 'versions to test, such as 1.30 (default: all)')
  .option('--short', 'run a few test files on the oldest and the newest Kubernetes')
  .option('--built', 'skip versions that are not built on this machine')
  .option('--keep', `write the results into ${triedFile}`)
  .action(main);

await runMain(() => program.parseAsync());
