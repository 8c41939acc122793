import { program } from './program.ts';
import { describeError } from '../../runtime/wording/errors.ts';
import { publisher } from '../settings/publisher.ts';
import { operatorVersion } from '../settings/version.ts';
import type { ChartKey } from './chart.ts';
import { planRelease } from './release.ts';
import { workflowSigner } from './signing.ts';
import { steps, type Releasing } from './steps.ts';

/** `npm run release -- STEP …`: runs steps of the release of the tag in GITHUB_REF_NAME. Without a step it lists them. */
async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (names.length === 0 || unknown.length > 0) {
    const known = steps.map(({ name, does }) => `  ${name.padEnd(8)}${does}\n`);
    const noSteps = unknown.map((name) => `There is no step '${name}'. `).join('');
    process.stderr.write(`${noSteps}Steps of a release, in order:\n${known.join('')}`);
    return names.length === 0 ? 0 : 1;
  }
  try {
    const releasing = await releasingFrom(process.env);
    for (const step of steps.filter(({ name }) => names.includes(name))) {
      process.stderr.write(`${step.name}: ${step.does}\n`);
      await step.run(releasing);
    }
    return 0;
  } catch (error) {
    process.stderr.write(`The release failed: ${describeError(error)}\n`);
    return 1;
  }
}

async function releasingFrom(environment: NodeJS.ProcessEnv): Promise<Releasing> {
  const version = operatorVersion();
  const release = planRelease(environment['GITHUB_REF_NAME'] ?? '', version, publisher);
  const git = async (...args: readonly string[]) => (await program('git', args)).trim();
  const revision = await git('rev-parse', 'HEAD');
  return {
    release,
    folder: 'dist/release/files',
    published: `${publisher.home}/releases/download/v${version}`,
    images: { revision, timestamp: Number(await git('show', '--no-patch', '--format=%ct', 'HEAD')) },
    signer: () => workflowSigner(environment),
    builder: {
      id: `https://github.com/${environment['GITHUB_WORKFLOW_REF'] ?? ''}`,
      run: `${publisher.home}/actions/runs/${environment['GITHUB_RUN_ID'] ?? ''}/attempts/${environment['GITHUB_RUN_ATTEMPT'] ?? ''}`,
      revision,
      startedOn: new Date(),
    },
    ...keyFrom(environment),
  };
}

/** Without a key, the chart has only a sigstore signature, which Helm cannot verify. */
function keyFrom(environment: NodeJS.ProcessEnv): { readonly chartKey?: ChartKey } {
  const { CHART_KEY: name = '', CHART_KEYRING: keyring = '' } = environment;
  return name === '' || keyring === '' ? {} : { chartKey: { name, keyring } };
}

process.exitCode = await main(process.argv.slice(2));
