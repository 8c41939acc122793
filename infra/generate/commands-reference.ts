import type { Command } from 'commander';
import { commands } from '../../runtime/cli/commands.ts';
import { createProgram } from '../../runtime/cli/program.ts';
import { processShell } from '../../runtime/cli/shell.ts';
import { markdownTable } from '../settings/markdown-table.ts';
import { referencePage } from './page.ts';

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

function getOptions(command: Command): string {
  const rows = command.options.map(({ flags, description, defaultValue, argChoices }) => {
    const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`;
    const fallback = defaultValue === undefined ? '' : `\`${String(defaultValue)}\``;
    return [`\`${flags}\``, fallback, description + choices];
  });
  return markdownTable(['flag', 'default', 'meaning'], rows);
}

function section(command: Command): string {
  const { example = '' } = commands.find(({ name }) => name === command.name()) ?? {};
  const options = command.options.length === 0 ? [] : [getOptions(command)];
  const usage = `\`\`\`console\n$ ${example}\n\`\`\``;
  return [`## lumigo ${command.name()}`, sentence(command.description()), usage, ...options].join('\n\n');
}

const manager = 'deployment/lumigo-lumigo-operator-controller-manager -c manager';
const places = [
  '| where | how |',
  '| --- | --- |',
  '| in a clone of this repository | `npm run build`, then `node dist/runtime/main.js` in place of `lumigo` |',
  '| in a project with the npm package | `npx lumigo` |',
  "| as a plugin of kubectl | `kubectl lumigo`, with the package or the release's krew manifest installed. With the package, kubectl completes it |",
  `| in the operator's container | \`kubectl exec -n lumigo-system ${manager} -- /nodejs/bin/node /app/main.js\`. Its heap is at most a fourth of the manager's memory limit. For many namespaces use \`-n\`, and run \`diagnose\` and \`preview\` without it in another place |`,
].join('\n');

export function commandsReference(): string {
  const program = createProgram(processShell());
  const visible = program.createHelp().visibleCommands(program);
  return referencePage(
    'Commands',
    'runtime/cli/commands.ts',
    "`lumigo` is the operator's program. It runs in these places:",
    places,
    `The program uses your kubeconfig and your rights. Only \`uninstall\` changes objects, and it acts as the operator's account if you may
impersonate it. For one namespace (\`-n\`), the role \`edit\` in it is enough. The result names each part that needs more rights. The exit code is
0 for success, 1 for a failure and 2 for an invalid configuration. Colors are for terminals, and the variable \`NO_COLOR\` switches them off. With \`-o json\` or \`-o yaml\`, standard output has the result alone. \`diagnose\` has no \`-o\`, because it writes a YAML file.`,
    'The program uses no proxy: it ignores `HTTPS_PROXY`, and refuses a kubeconfig with `proxy-url`. Behind a proxy, run `kubectl proxy`, and pass a kubeconfig whose cluster has `server: http://127.0.0.1:8001` and `insecure-skip-tls-verify: true`.',
    ...visible.map(section),
    '## Flags of every command',
    getOptions(program),
  );
}
