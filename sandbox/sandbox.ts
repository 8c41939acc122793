import { Command } from 'commander';
import { describeError } from '../runtime/wording/errors.ts';
import { down } from './commands/down.ts';
import { status } from './commands/status.ts';
import { defaultDir, up } from './commands/up.ts';

/** `npm run sandbox`: a real control plane on this machine, with the operator in it, for as long as it is wanted. */
const program = new Command('sandbox')
  .description(
    'A throwaway Kubernetes on this machine, with the operator at work in it: a control plane (no root, no containers) or, with --node, a node as well',
  )
  .helpOption('-h, --help', 'show this help')
  .showHelpAfterError('(--help lists the commands)');

const withDir = (command: Command) =>
  command.option('--dir <folder>', 'where the sandbox keeps its files; two sandboxes need two folders', defaultDir());

withDir(program.command('up'))
  .description('start it, install the operator, and return when both are ready')
  .option('--node', 'with a node that runs pods: containerd, kubelet, kube-proxy, DNS (Linux, root)')
  .option('--bare', 'the cluster alone, without the operator')
  .option('--json', 'print {kubeconfig, server, token, pids} on standard output, and nothing else there')
  .action(up);
withDir(program.command('down')).description('end it and remove its files').action(down);
withDir(program.command('status'))
  .description('say what runs; exit code 1 when it does not')
  .option('--json', 'print it as JSON')
  .action(status);

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${describeError(error)}\n`);
  process.exitCode = 1;
});
