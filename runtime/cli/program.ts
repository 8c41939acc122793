import { Command } from 'commander';
import { programVersion } from '../config/version.ts';
import { commands } from './commands.ts';
import type { Invocation } from './invocation.ts';
import type { Shell } from './shell.ts';

const notes = `
The commands use your kubeconfig and your rights. In the operator's container they use its ServiceAccount.
Exit codes: 0 success, 1 failure (standard error shows the reason), 2 invalid configuration.`;

/** The module of a command is loaded only when it runs. */
export function createProgram(shell: Shell): Command {
  const program = new Command('lumigo')
    .description('The Lumigo Kubernetes operator at the terminal')
    .version(programVersion)
    .option('--kubeconfig <file>', "use this kubeconfig (default: KUBECONFIG, ~/.kube/config, a pod's ServiceAccount)")
    .option('--context <name>', 'use this context of the kubeconfig')
    .option('--service-account <folder>', 'folder of the ServiceAccount files token, ca.crt and namespace')
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(--help lists the commands and flags)')
    .addHelpText('after', notes)
    .helpCommand(false);
  for (const { name, argument, does, options = [], example, load } of commands) {
    const command = program.command(name, { hidden: example === undefined }).description(does);
    if (argument !== undefined) command.addArgument(argument);
    for (const option of options) command.addOption(option);
    command.addHelpText('after', `\nExample:\n  ${example ?? `lumigo ${name}`}`).action(async () => {
      const { run } = await load();
      const [typed = ''] = command.args;
      await run({ ...shell, flags: command.optsWithGlobals(), argument: typed, program } as Invocation<never>);
    });
  }
  return program;
}
