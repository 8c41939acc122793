import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lumigo } from '../../runtime/contract.ts';
import { printerTo, type Printer } from '../demo/printer.ts';
import { runMain } from '../program.ts';
import { withFolder } from '../with-folder.ts';
import { createClusterProgram, getClusterTools, readTarget, requireAgreement, run, runStep } from './commands.ts';
import { PLACEHOLDER_TOKEN, request, SAMPLE_DEPLOYMENT, SAMPLE_NAMESPACE, getSample } from './sample-objects.ts';

interface Flags {
  readonly context?: string;
  readonly yes?: boolean;
  readonly remove?: boolean;
  readonly wait: boolean;
}

const TOKEN_VARIABLE = 'LUMIGO_TRACER_TOKEN';

/** `npm run cluster:sample`: traces a sample program in a new namespace. */
const program = createClusterProgram(
  'cluster:sample',
  'Creates a namespace with a sample program and a Lumigo resource, and shows that the program is traced',
)
  .option('--remove', `remove the sample: its Lumigo resource, then the namespace ${SAMPLE_NAMESPACE}`)
  .option('--no-wait', 'do not wait until the pods of the sample are replaced')
  .addHelpText(
    'after',
    `\n${TOKEN_VARIABLE} in the environment is your Lumigo token; without it, a placeholder is used.`,
  )
  .action(main);

/** Runs kubectl in the namespace of the sample, and returns its output. */
type Step = (title: string, args: readonly string[], hint?: string) => Promise<string>;

async function main({ context, yes = false, remove = false, wait }: Flags): Promise<void> {
  const printer = printerTo((text) => process.stdout.write(text), process.stdout.isTTY);
  const { kubectl: path } = await getClusterTools(printer);
  const target = await readTarget(path, context);
  printer.title(`The sample in the cluster of context '${target.context}'`);
  await requireAgreement(target, `This changes '${target.context}', namespace ${SAMPLE_NAMESPACE}.`, yes);
  const kubectl = [path, `--context=${target.context}`, `--namespace=${SAMPLE_NAMESPACE}`];
  const { code } = await run([...kubectl, 'get', 'crd', `${lumigo.plural}.${lumigo.group}`]);
  if (code !== 0)
    throw new Error(
      `the cluster of context '${target.context}' has no Lumigo operator. Install it first: npm run cluster:install`,
    );
  const step: Step = (title, args, hint) => runStep({ title, argv: [...kubectl, ...args], hint }, printer);
  if (remove) return removeSample(step);
  await instrumentSample(step, printer);
  if (wait) await sendRequest(step, printer);
  printer.text(['', await step('the result', ['get', 'lumigo'])]);
  printer.text([
    `See what changed: kubectl --namespace ${SAMPLE_NAMESPACE} describe deployment ${SAMPLE_DEPLOYMENT}`,
    'Remove the sample: npm run cluster:sample -- --remove',
  ]);
}

async function instrumentSample(step: Step, printer: Printer): Promise<void> {
  const token = process.env[TOKEN_VARIABLE];
  if (token === undefined)
    printer.aside(`${TOKEN_VARIABLE} is not set: a placeholder is used, and Lumigo refuses the traces`);
  const title = `creating namespace ${SAMPLE_NAMESPACE} with Deployment/${SAMPLE_DEPLOYMENT}, a Secret and a Lumigo resource`;
  // The token is in a file, because other users can read command lines.
  await withFolder(async (folder) => {
    const file = join(folder, 'sample.json');
    writeFileSync(file, JSON.stringify(getSample(token ?? PLACEHOLDER_TOKEN)));
    await step(title, ['apply', `--filename=${file}`]);
  });
  await step(
    'waiting until the operator instruments the Deployment',
    ['wait', 'lumigo/lumigo', '--for=jsonpath={.status.instrumentedResourcesCount}=1', '--timeout=60s'],
    `the reason is in: kubectl --namespace ${SAMPLE_NAMESPACE} describe lumigo`,
  );
  printer.instrumented(`Deployment/${SAMPLE_DEPLOYMENT}`, 'instrumented');
}

async function sendRequest(step: Step, printer: Printer): Promise<void> {
  const deployment = `deployment/${SAMPLE_DEPLOYMENT}`;
  await step('waiting until its pod is replaced', ['rollout', 'status', deployment, '--timeout=180s']);
  const answer = await step('sending a request to the program', ['exec', deployment, '--', 'node', '-e', request]);
  printer.arrived('the program answers', answer.trim());
}

/** The `Lumigo` is deleted first, while the operator can remove the injection and release the finalizer. */
async function removeSample(step: Step): Promise<void> {
  const ended = ['delete', 'lumigo', 'lumigo', '--ignore-not-found', '--timeout=120s'];
  await step('deleting the Lumigo resource', ended, 'is the operator running?');
  const namespace = ['delete', 'namespace', SAMPLE_NAMESPACE, '--ignore-not-found', '--wait=false'];
  await step(`deleting namespace ${SAMPLE_NAMESPACE}`, namespace);
}

await runMain(() => program.parseAsync());
