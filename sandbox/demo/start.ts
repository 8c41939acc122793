import { ensureBundle } from '../../infra/release/bundle.ts';
import { ensureBinaries, isBuilt } from '../programs/build.ts';
import type { NodeWithSink } from '../node/operator.ts';
import { createProgram, runMain } from '../program.ts';
import { TestCluster } from '../testing/test-cluster.ts';
import { throwawayCluster, type DemoCluster } from './cluster.ts';
import { printerTo, type Printer } from './printer.ts';
import { demonstrateOnNode, whyNotAtOnce } from './node-demo.ts';
import { instrument, deployWorkloads, removeLumigo } from './steps.ts';
import { printArrivals, waitForCollected } from './telemetry.ts';
import { demoNamespace, type DemoWorkload } from './workloads.ts';

interface Flags {
  readonly once?: boolean;
  readonly node?: boolean;
}

const PATIENCE_MS = 10_000;

/** `npm start`: shows the operator's main job on a real API server. With `--once`, or without a terminal, it checks the result and exits. */
const program = createProgram('start', 'Shows the operator at work on a real Kubernetes control plane on this machine')
  .option('--once', 'check every object, remove everything and exit: 0 if everything is as expected, 1 if not')
  .option(
    '--node',
    'run real programs in real pods on a real node (Linux, root); the default if its programs and images are built',
  )
  .option('--no-node', 'use only the control plane')
  .action(run);

async function run(flags: Flags): Promise<void> {
  const printer = printerTo((text) => process.stdout.write(text), process.stdout.isTTY);
  printer.title('The Lumigo operator at work');
  const once = isOnce(flags, printer);
  await ensureBundle();
  const interrupted = interruption();
  if (onNode(flags, printer)) return runOnNode(printer, once, interrupted);
  const cluster = await Promise.race([throwawayCluster(printer.aside), interrupted.then(() => undefined)]);
  // The reaper ends the processes after this one exits.
  if (cluster === undefined) process.exit(130);
  try {
    const problems = await Promise.race([demonstrate(cluster, printer, once), interrupted.then(() => [])]);
    for (const problem of problems) printer.wrong(problem);
    if (problems.length > 0) process.exitCode = 1;
    else if (!once) await stayUntil(interrupted, cluster, printer);
  } finally {
    await cluster.stop();
  }
  process.exit();
}

/** Without a terminal, no user can end the demo. */
function isOnce({ once = false }: Flags, printer: Printer): boolean {
  if (once || process.stdout.isTTY) return once;
  printer.aside('there is no terminal, so the demo exits at the end, as with --once');
  return true;
}

function onNode({ node }: Flags, printer: Printer): boolean {
  if (node !== undefined) return node;
  const why = whyNotAtOnce();
  if (why !== undefined) printer.aside(why);
  return why === undefined;
}

async function runOnNode(printer: Printer, once: boolean, interrupted: Promise<void>): Promise<void> {
  const stay = async ({ node }: NodeWithSink, hints: readonly string[]) => {
    await keepRunning(printer, [...(await accessBy(node.kubeconfig, printer)), ...hints], interrupted);
    printer.step('stopping and removing everything');
  };
  void interrupted.then(() => setTimeout(() => process.exit(130), PATIENCE_MS).unref());
  const problems = await demonstrateOnNode(printer, once, stay);
  for (const problem of problems) printer.wrong(problem);
  if (problems.length === 0 && once) printer.step('both programs were traced and are restored');
  process.exit(problems.length > 0 ? 1 : 0);
}

async function keepRunning<T>(printer: Printer, hints: readonly string[], end: Promise<T>): Promise<T> {
  const ending = 'Press Ctrl-C to stop it. Everything is removed.';
  printer.text(['', 'The demo keeps running. Try in another terminal:', '', ...hints, '', ending]);
  // Neither a signal handler nor a detached child keeps this process alive.
  const awake = setInterval(() => undefined, 60_000);
  try {
    return await end;
  } finally {
    clearInterval(awake);
  }
}

async function demonstrate(cluster: DemoCluster, printer: Printer, once: boolean): Promise<string[]> {
  const demo = { testCluster: new TestCluster(cluster.client), printer, before: new Map<DemoWorkload, string>() };
  printer.step(`Kubernetes runs at ${cluster.server}. The operator is installed and ready`);
  const arrivals = printArrivals(cluster.sink, printer);
  await deployWorkloads(demo);
  const problems = [...(await instrument(demo)), ...(await waitForCollected(cluster))];
  if (!once) return problems;
  arrivals.stop();
  const differing = await removeLumigo(demo);
  if (problems.length + differing.length === 0) printer.step('everything was instrumented, then restored exactly');
  return [...problems, ...differing];
}

/** Resolves on the first Ctrl-C or SIGTERM. A second one ends the process at once. */
function interruption(): Promise<void> {
  return new Promise((resolve) => {
    let before = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (before) process.exit(130);
        before = true;
        resolve();
      });
  });
}

async function stayUntil(interrupted: Promise<void>, cluster: DemoCluster, printer: Printer): Promise<void> {
  // kubectl may have to wait for the other builds.
  if (!isBuilt('kubectl')) await cluster.background;
  const hints = [
    ...(await accessBy(cluster.kubeconfig, printer)),
    `  kubectl describe lumigo -n ${demoNamespace}`,
    `  kubectl describe deployment cart -n ${demoNamespace}`,
    `  kubectl label deployment legacy lumigo.auto-trace- -n ${demoNamespace}     (opts it in again)`,
  ];
  const failed = cluster.background.then(() => interrupted);
  const died = await keepRunning(printer, hints, Promise.race([interrupted, cluster.manager.died, failed]));
  if (typeof died === 'string') throw new Error(died);
  printer.step('stopping and removing everything');
}

async function accessBy(kubeconfig: string, printer: Printer): Promise<string[]> {
  const { kubectl = 'kubectl' } = await ensureBinaries(['kubectl'], printer.aside);
  return [`  export KUBECONFIG=${kubeconfig}`, `  alias kubectl=${kubectl}`, ''];
}

await runMain(() => program.parseAsync());
