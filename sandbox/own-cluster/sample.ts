import { Command } from 'commander';
import { lumigo } from '../../runtime/contract.ts';
import { createClient, type Client } from '../../runtime/kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { fromKubeconfig } from '../../runtime/kubernetes/http/kubeconfig.ts';
import { createTransport } from '../../runtime/kubernetes/http/transport.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { describeError } from '../../runtime/wording/errors.ts';
import { printerTo, type Printer } from '../demo/printer.ts';
import { isInstrumented } from '../demo/snapshot.ts';
import type { Workload } from '../../runtime/injection/types.ts';
import { apply, refOf } from '../manager/apply.ts';
import { eventually } from '../testing/eventually.ts';
import { requireAgreement } from './agree.ts';
import { getClusterTools, readTarget, runStep } from './commands.ts';
import {
  getSampleSecret,
  PLACEHOLDER_TOKEN,
  request,
  SAMPLE_DEPLOYMENT,
  SAMPLE_NAMESPACE,
  sampleDeployment,
  sampleLumigo,
  sampleNamespace,
} from './sample-objects.ts';
import { needsAgreement, type Target } from './target.ts';

interface Flags {
  readonly context?: string;
  readonly yes?: boolean;
  readonly remove?: boolean;
  readonly wait: boolean;
}

const INSTRUMENTED_MS = 60_000;
const REMOVED_MS = 120_000;
const TOKEN_VARIABLE = 'LUMIGO_TRACER_TOKEN';

/** `npm run cluster:sample`: traces a sample program in a namespace of its own, and shows the result. */
const program = new Command('cluster:sample')
  .description('Creates a namespace with a sample program and a Lumigo resource, and shows that the program is traced')
  .option('--context <name>', 'a context of the kubeconfig; default: the current one')
  .option('--yes', 'agree beforehand; a cluster of neither kind nor minikube is changed only after a question')
  .option('--remove', `remove the sample: its Lumigo resource, then the namespace ${SAMPLE_NAMESPACE}`)
  .option('--no-wait', 'do not wait until the pods of the sample are replaced')
  .addHelpText(
    'after',
    `\n${TOKEN_VARIABLE} in the environment is your Lumigo token; without it, a placeholder is used.`,
  )
  .helpOption('-h, --help', 'show this help')
  .showHelpAfterError('(--help lists the flags)')
  .action(main);

async function main({ context, yes = false, remove = false, wait }: Flags): Promise<void> {
  const printer = printerTo((text) => process.stdout.write(text), process.stdout.isTTY);
  const { kubectl } = await getClusterTools(printer);
  const target = await readTarget(kubectl, context);
  printer.title(`The sample in the cluster of context '${target.context}'`);
  if (needsAgreement(target))
    await requireAgreement(`This changes '${target.context}', namespace ${SAMPLE_NAMESPACE}.`, yes);
  const transport = createTransport(await fromKubeconfig({ context: target.context }), { userAgent: 'lumigo-sample' });
  try {
    const client = createClient(transport);
    if (remove) return await removeSample(client, printer);
    await requireOperator(client, target);
    await instrumentSample(client, printer);
    const kubectlIn = [kubectl, `--context=${target.context}`, `--namespace=${SAMPLE_NAMESPACE}`];
    if (wait) await sendRequest(kubectlIn, printer);
    printer.text(['', await runStep({ title: 'the result', argv: [...kubectlIn, 'get', 'lumigo'] }, printer)]);
    printer.text([
      `See what changed: kubectl --namespace ${SAMPLE_NAMESPACE} describe deployment ${SAMPLE_DEPLOYMENT}`,
      'Remove the sample: npm run cluster:sample -- --remove',
    ]);
  } finally {
    transport.close();
  }
}

async function requireOperator(client: Client, { context }: Target): Promise<void> {
  const definition = await client.find({
    ...kinds.customResourceDefinitions,
    name: `${lumigo.plural}.${lumigo.group}`,
  });
  if (definition === undefined)
    throw new Error(
      `the cluster of context '${context}' has no Lumigo operator. Install it first: npm run cluster:install`,
    );
}

async function instrumentSample(client: Client, printer: Printer): Promise<void> {
  const token = process.env[TOKEN_VARIABLE];
  printer.step(
    `creating namespace ${SAMPLE_NAMESPACE} with Deployment/${SAMPLE_DEPLOYMENT}, a Secret and a Lumigo resource`,
  );
  if (token === undefined)
    printer.aside(`${TOKEN_VARIABLE} is not set: a placeholder is used, and Lumigo refuses the traces`);
  for (const manifest of [sampleNamespace, sampleDeployment, getSampleSecret(token ?? PLACEHOLDER_TOKEN), sampleLumigo])
    await apply(client, manifest);
  printer.step('waiting until the operator instruments the Deployment');
  await eventually(() => requireInstrumented(client), { timeoutMs: INSTRUMENTED_MS });
  printer.instrumented(`Deployment/${SAMPLE_DEPLOYMENT}`, 'instrumented');
}

async function requireInstrumented(client: Client): Promise<void> {
  if (isInstrumented((await client.get(refOf(sampleDeployment))) as Workload)) return;
  throw new Error(
    `Deployment/${SAMPLE_DEPLOYMENT} is not instrumented after ${INSTRUMENTED_MS / 1_000} s. The reason is in: kubectl --namespace ${SAMPLE_NAMESPACE} describe lumigo`,
  );
}

async function sendRequest(kubectl: readonly string[], printer: Printer): Promise<void> {
  const deployment = `deployment/${SAMPLE_DEPLOYMENT}`;
  const replaced = ['rollout', 'status', deployment, '--timeout=180s'];
  await runStep({ title: 'waiting until its pod is replaced', argv: [...kubectl, ...replaced] }, printer);
  const exec = ['exec', deployment, '--', 'node', '-e', request];
  const answer = await runStep({ title: 'sending a request to the program', argv: [...kubectl, ...exec] }, printer);
  printer.arrived('the program answers', answer.trim());
}

/** The Lumigo resource first, while the operator is there to remove the injection and release the finalizer. */
async function removeSample(client: Client, printer: Printer): Promise<void> {
  const ref = refOf(sampleLumigo);
  await client.delete(ref).catch(undefinedIfNotFound);
  await eventually(
    async () => {
      if ((await client.get(ref).catch(undefinedIfNotFound)) !== undefined)
        throw new Error(
          `the Lumigo resource is still being deleted after ${REMOVED_MS / 1_000} s. Is the operator running?`,
        );
    },
    { timeoutMs: REMOVED_MS },
  );
  await client.delete({ ...kinds.namespaces, name: SAMPLE_NAMESPACE }).catch(undefinedIfNotFound);
  printer.step(`the Lumigo resource no longer exists, and namespace ${SAMPLE_NAMESPACE} is being deleted`);
}

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`\n${describeError(error)}\n`);
  process.exitCode = 1;
});
