import type { Command } from 'commander';
import type { Invocation } from './invocation.ts';

export const run = async ({ argument, program, write }: Invocation): Promise<void> =>
  write(completionFor(argument, program));

function completedIn(program: Command) {
  const help = program.createHelp();
  const getFlags = (command: Command) =>
    command.options.map(({ long, short, description }) => ({ long: long ?? '', short, does: description }));
  return help.visibleCommands(program).map((command) => ({
    name: command.name(),
    does: command.description(),
    flags: [...getFlags(command), ...getFlags(program).filter(({ long }) => long !== '--version')],
  }));
}

type Completed = ReturnType<typeof completedIn>;

export function completionFor(shell: string, program: Command): string {
  const commands = completedIn(program);
  if (shell === 'fish') return fish(commands);
  return shell === 'bash' ? bash(commands) : `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
}

const bash = (commands: Completed): string => `_lumigo() {
  local words
  case "\${COMP_WORDS[1]}" in
${commands.map(({ name, flags }) => `    ${name}) words="${flags.map(({ long }) => long).join(' ')}" ;;`).join('\n')}
    *) words="${commands.map(({ name }) => name).join(' ')}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _lumigo lumigo`;

const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`;

const fish = (commands: Completed): string =>
  commands
    .flatMap(({ name, does, flags }) => [
      `complete -c lumigo -f -n __fish_use_subcommand -a ${name} -d ${quoted(does)}`,
      ...flags.map(
        ({ long, short, does: meaning }) =>
          `complete -c lumigo -f -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`} -d ${quoted(meaning)}`,
      ),
    ])
    .join('\n');
