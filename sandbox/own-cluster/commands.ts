import { createInterface } from 'node:readline/promises';
import { ensureBinaries } from '../programs/build.ts';
import { runToEnd, type Finished } from '../run.ts';
import type { Command as Program } from 'commander';
import type { Printer } from '../demo/printer.ts';
import { createProgram } from '../program.ts';
import { alive } from '../programs/progress.ts';
import { engines, type Command, type Engine } from './image.ts';
import { getTarget, type MinifiedKubeconfig, type Target } from './target.ts';

const SHOWN_LINES = 20;

const INSTALL_HINTS: Readonly<Record<string, string>> = {
  kind: 'see https://kind.sigs.k8s.io',
  minikube: 'see https://minikube.sigs.k8s.io',
};

export const createClusterProgram = (name: string, description: string): Program =>
  createProgram(name, description)
    .option('--context <name>', 'a context of the kubeconfig; default: the current one')
    .option('--yes', 'agree beforehand; a cluster of neither kind nor minikube is changed only after a question');

/** `code` is null if the program is missing or was killed. */
export const run = ([program = '', ...args]: readonly string[]): Promise<Finished> => runToEnd(program, args);

/** Runs a command as a step, and prints its time every 10 s. @throws Error with the end of its output */
export async function runStep({ title, argv, hint }: Command, printer: Printer): Promise<string> {
  printer.step(title);
  const passed = (seconds: number) => `${title}, ${seconds} s`;
  const { code, stdout, stderr } = await alive(printer.aside, passed, () => run(argv));
  if (code === 0) return stdout;
  const install = INSTALL_HINTS[argv[0] ?? ''] ?? 'install it first';
  const advice = stderr.endsWith('is not installed') ? install : hint;
  const output = `${stderr}\n${stdout}`.trim().split('\n').slice(-SHOWN_LINES).join('\n');
  throw new Error(`\`${argv.join(' ')}\` failed: ${output}${advice === undefined ? '' : ` (${advice})`}`);
}

/** Returns the first engine that can build here. @throws Error that names the engines */
export async function findEngine(): Promise<Engine> {
  for (const [engine, check] of Object.entries(engines)) if ((await run(check)).code === 0) return engine as Engine;
  throw new Error(
    `no program that builds images works here: ${Object.keys(engines).join(', ')}. Install or start one of them, or pass --image with an image that is in a registry`,
  );
}

/** Returns this machine's kubectl and helm, or downloads them into the cache. */
export async function getClusterTools(printer: Printer) {
  const missing: string[] = [];
  if ((await run(['kubectl', 'version', '--client'])).code !== 0) missing.push('kubectl');
  if ((await run(['helm', 'version'])).code !== 0) missing.push('helm');
  const { kubectl = 'kubectl', helm = 'helm' } = await ensureBinaries(missing, printer.aside);
  return { kubectl, helm };
}

/** Reads a context of the kubeconfig. Default: the current one. @throws Error if there is none */
export async function readTarget(kubectl: string, context?: string): Promise<Target> {
  const chosen = context === undefined ? [] : [`--context=${context}`];
  const { code, stdout, stderr } = await run([kubectl, 'config', 'view', '--minify', '--output=json', ...chosen]);
  if (code === 0) {
    const config = JSON.parse(stdout) as MinifiedKubeconfig;
    return getTarget({ ...config, 'current-context': context ?? config['current-context'] });
  }
  throw new Error(
    `no cluster to install into: ${stderr.trim()}. Start one (\`kind create cluster\` or \`minikube start\`), or choose a context of your kubeconfig with --context`,
  );
}

/** Asks before a cluster of neither kind nor minikube is changed, which may be remote. @throws Error without an agreement, or without a terminal to ask at */
export async function requireAgreement(target: Target, question: string, yes: boolean): Promise<void> {
  if (yes || target.kind !== 'other') return;
  if (!process.stdin.isTTY) throw new Error('there is no terminal to ask at. Pass --yes to agree beforehand');
  const questions = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await questions.question(`${question} Continue? [y/N] `);
  questions.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was changed, because you did not agree');
}
