import { Command, InvalidArgumentError, Option } from 'commander';
import { injectorOf, fromEnvironment, updaterKinds } from '../config/config.ts';
import { readConfiguration, variables } from '../config/document.ts';
import { findConfig, findInstalled } from '../installation/installation.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { connect, type ConnectOptions } from '../kubernetes/http/connect.ts';
import type { Connection } from '../kubernetes/http/credentials.ts';
import { createTransport, type Transport } from '../kubernetes/http/transport.ts';
import { withPlatform } from '../installation/platform.ts';
import { runManager } from '../manager/manager.ts';
import { writeAccount } from '../telemetry-proxy/account.ts';
import { prepare as prepareTelemetryProxy } from '../telemetry-proxy/files.ts';
import { release, releaseAll } from '../uninstall/protected-objects.ts';
import { hasSuccessor } from '../uninstall/signs.ts';
import { uninstall } from '../uninstall/uninstall.ts';
import { createLogger } from '../observability/logging.ts';

declare const __OPERATOR_VERSION__: string;

export interface Surroundings {
  readonly print: (text: string) => void;
  readonly environment: NodeJS.ProcessEnv;
}

interface Flags extends ConnectOptions {
  readonly uninstall?: boolean;
  readonly deadline: number;
  readonly preview?: boolean;
  readonly assumeLumigo?: boolean;
  readonly explain?: string;
  readonly namespace?: string;
  readonly update?: boolean;
  readonly prepareTelemetryProxy?: boolean;
}

const UNINSTALL_SECONDS = 300;

/** What each asks for something else than the manager; one at a time. */
function commands(): Option[] {
  const options = [
    new Option(
      '--preview',
      'show the planned change of each workload, the reason, and if the API server accepts it. Changes nothing',
    ),
    new Option('--explain <kind/name>', 'explain why a workload is or is not instrumented'),
    new Option(
      '--uninstall',
      'delete every Lumigo resource, wait until the injection is removed, and list what is left',
    ),
    new Option(
      '--update',
      'look for a newer version, and upgrade the Helm release if the settings allow it (used by the updater)',
    ),
    new Option(
      '--prepare-telemetry-proxy',
      'write the files that the telemetry proxy needs to start (used by the pod)',
    ).hideHelp(),
  ];
  const names = options.map((option) => option.attributeName());
  return options.map((option) => option.conflicts(names.filter((name) => name !== option.attributeName())));
}

/** The command line: without a flag that says otherwise, the manager runs until it is told to stop. */
export function createProgram({ print, environment }: Surroundings): Command {
  const program = new Command('lumigo-operator');
  for (const option of commands()) program.addOption(option);
  return program
    .description(
      'The Lumigo Kubernetes operator. Without flags it runs the manager: the injector webhook and, on the replica that leads, the reconciler. Its settings are the environment variable LUMIGO_CONFIG, which the installation sets.',
    )
    .version(typeof __OPERATOR_VERSION__ === 'string' ? __OPERATOR_VERSION__ : 'dev')
    .option('--kubeconfig <file>', 'use this kubeconfig (default in a cluster: the ServiceAccount)')
    .option('--context <name>', 'use this context of the kubeconfig')
    .option('--service-account <folder>', 'folder of the ServiceAccount files token, ca.crt and namespace')
    .option('-n, --namespace <name>', 'the namespace for --preview and --explain')
    .option('--assume-lumigo', 'with --preview: assume a Lumigo with the defaults in a namespace without one')
    .option('--deadline <seconds>', 'maximum time that --uninstall waits', seconds, UNINSTALL_SECONDS)
    .helpOption('-h, --help', 'show this help')
    .addHelpText(
      'after',
      `
Examples:
  lumigo-operator --preview -n shop --assume-lumigo    what a Lumigo in 'shop' would change
  lumigo-operator --explain deployment/cart -n shop    why 'cart' is (not) instrumented
  lumigo-operator --uninstall                          before the operator itself is removed

Exit codes: 0 success, 1 failure (standard error shows the reason), 2 invalid configuration.`,
    )
    .showHelpAfterError('(--help lists the flags)')
    .action((flags: Flags) => dispatch(flags, { print, environment }));
}

/** What the manager does not need is loaded where it is asked for. */
async function dispatch(flags: Flags, surroundings: Surroundings): Promise<void> {
  const { environment } = surroundings;
  if (!commands().some((option) => option.attributeName() in flags))
    return runManager(fromEnvironment(environment), flags);
  const connection = await connect(flags, environment);
  const transport = createTransport(connection, { userAgent: 'lumigo-operator' });
  const client = createClient(transport);
  try {
    if (flags.prepareTelemetryProxy === true) return await runPrepare(client, connection.ca, environment);
    if (flags.update === true) return await runUpdate(client, flags, environment);
    if (flags.uninstall === true) return await runUninstall(client, flags, surroundings);
    await runInsight(transport, flags, surroundings, connection.namespace);
  } finally {
    transport.close();
  }
}

/** The telemetry proxy starts as soon as this is done, so its token comes first. */
async function runPrepare(client: Client, authority: Connection['ca'], environment: NodeJS.ProcessEnv): Promise<void> {
  const config = fromEnvironment(environment);
  await writeAccount({ config, client, authority });
  prepareTelemetryProxy(config);
}

async function runInsight(
  transport: Transport,
  { namespace, explain: target, assumeLumigo }: Flags,
  { print, environment }: Surroundings,
  ownNamespace = 'default',
): Promise<void> {
  const client = createClient(transport);
  const asked = target === undefined ? namespace : (namespace ?? ownNamespace);
  const { config: found, note } = await findConfig(client, environment, asked);
  const config = await withPlatform(found, transport);
  if (note !== undefined) print(note);
  const excluded = new Set([...config.excludedNamespaces, config.operatorNamespace]);
  const isExcluded = (namespace: string) => excluded.has(namespace);
  const context = { client, injector: injectorOf(config), renew: config.updateOnUpgrade, print, isExcluded };
  if (target !== undefined) {
    const { explain } = await import('../diagnostics/explain.ts');
    return explain({ ...context, target, namespace: asked ?? ownNamespace });
  }
  const { assumedPolicy, preview } = await import('../diagnostics/preview.ts');
  const assume = assumeLumigo === true ? assumedPolicy : undefined;
  return preview({ ...context, pace: config, assume, ...(namespace === undefined ? {} : { namespace }) });
}

async function runUninstall(client: Client, { deadline }: Flags, { print, environment }: Surroundings): Promise<void> {
  const installed = await findInstalled(client, environment);
  const isInContainer = environment[variables.config] !== undefined;
  if (isInContainer && installed !== undefined && (await hasSuccessor(client, installed))) {
    print('Another installation of the Lumigo operator is in this cluster. The Lumigo resources and injections stay.');
    return release(client, installed);
  }
  const until = Date.now() + deadline * 1_000;
  const stuck = [...(await uninstall({ client, installed, deadline: until, print }))];
  // What is stuck is left to a manager, if there is one, and so are its account and its rights.
  if (stuck.length > 0 && installed !== undefined)
    print('The operator keeps its ServiceAccount and permissions until everything is removed.');
  else if (isInContainer && installed !== undefined) await release(client, installed);
  else stuck.push(...(await releaseAll(client, print)));
  if (stuck.length > 0)
    throw new Error(
      `not everything could be removed in ${deadline} s:\n${stuck.map((line) => `  ${line}`).join('\n')}`,
    );
}

async function runUpdate(client: Client, flags: Flags, environment: NodeJS.ProcessEnv): Promise<void> {
  const [{ openHelm }, { update }] = await Promise.all([import('../updater/helm.ts'), import('../updater/update.ts')]);
  const config = readConfiguration(updaterKinds, environment);
  const helm = openHelm({
    namespace: config.operatorNamespace,
    environment,
    flags: [
      ...(flags.kubeconfig === undefined ? [] : ['--kubeconfig', flags.kubeconfig]),
      ...(flags.context === undefined ? [] : ['--kube-context', flags.context]),
    ],
  });
  try {
    if (!(await update({ config, client, helm, logger: createLogger(config.logLevel) })))
      throw new Error('the operator was not updated. See the log for the reason');
  } finally {
    helm.close();
  }
}

function seconds(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('it must be a whole number of seconds, 1 or more.');
  return Number(text);
}
