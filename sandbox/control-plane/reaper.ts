import { spawn } from 'node:child_process';

/** A shell that reads from a pipe. When the pipe closes, also by a crash or SIGKILL, it ends the processes and deletes the folder. */
export type Reaper = ReturnType<typeof startReaper>;

/** The script kills processes after three seconds, and waits until the last one has exited, because they write to the folder. */
const SCRIPT = `
trap '' INT TERM HUP
pids=
while read -r word value; do
  case $word in
    watch) pids="$value $pids" ;;
    release) exit 0 ;;
  esac
done
alive() { for pid in $pids; do kill -0 "$pid" 2>/dev/null && return 0; done; return 1; }
for pid in $pids; do kill -TERM "$pid" 2>/dev/null; done
tries=0
while alive && [ $tries -lt 60 ]; do tries=$((tries + 1)); sleep 0.05; done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
while alive && [ $tries -lt 120 ]; do tries=$((tries + 1)); sleep 0.05; done
eval "$2"
rm -rf -- "$1"
`;

/** @param cleanup shell commands that run after the processes exit and before the folder is deleted */
export function startReaper(folder: string, cleanup = '') {
  // A detached shell does not receive Ctrl-C of the terminal.
  const shell = spawn('sh', ['-c', SCRIPT, 'reaper', folder, cleanup], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => shell.once('exit', () => resolve()));
  shell.stdin?.on('error', () => undefined);
  const tell = (line: string) => shell.stdin?.write(`${line}\n`);
  // Neither the reaper nor its pipe keeps this process alive.
  shell.unref();
  (shell.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return {
    watch: (pid: number) => tell(`watch ${pid}`),
    release: () => tell('release'),
    stop(): Promise<void> {
      shell.ref();
      shell.stdin?.end();
      return ended;
    },
  };
}
