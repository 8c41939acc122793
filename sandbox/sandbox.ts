import type { Command } from 'commander';
import { defaultDir, down } from './commands/down.ts';
import { status } from './commands/status.ts';
import type { UpOptions } from './commands/up.ts';
import { createProgram, runMain } from './program.ts';

/** `npm run sandbox`: a real control plane on this machine, with the operator in it. */
const program = createProgram(
  'sandbox',
  'A temporary Kubernetes cluster on this machine with the operator: a control plane (no root, no containers) and, with --node, a node',
);

const withDir = (command: Command) =>
  command.option('--dir <folder>', 'folder of the files of the sandbox; each sandbox needs its own', defaultDir());

withDir(program.command('up'))
  .description('start the sandbox, install the operator and return when both are ready')
  .option('--node', 'add a node that runs pods: containerd, kubelet, kube-proxy, DNS (Linux, root)')
  .option('--bare', 'do not install the operator')
  .option('--json', 'print only {kubeconfig, server, token, pids} on standard output')
  // The other commands do without its libraries, which take a second to load.
  .action(async (options: UpOptions) => (await import('./commands/up.ts')).up(options));
withDir(program.command('down')).description('stop the sandbox and remove its files').action(down);
withDir(program.command('status'))
  .description('list the processes; exits with 1 if one does not run')
  .option('--json', 'print it as JSON')
  .action(status);

await runMain(() => program.parseAsync());
