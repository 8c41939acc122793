import { spawn } from 'node:child_process';

/**
 * Sees to it that nothing outlives whoever started it. The reaper is a small shell of its own that reads from a pipe;
 * when the pipe closes, for whatever reason (exit, crash, SIGKILL), it ends the processes it was told of and removes the
 * folder. `release` sends it away: the processes may stay.
 */
export interface Reaper {
  watch(pid: number): void;
  /** The processes stay when this one ends. */
  release(): void;
  /** Ends the processes, removes the folder, and resolves when both are done. */
  end(): Promise<void>;
}

/** First asks, then insists after three seconds. Waits until the last is gone, so that the folder can go. */
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

/** `cleanup`: further shell commands, run when the processes are gone and before the folder goes. */
export function startReaper(folder: string, cleanup = ''): Reaper {
  // In a session of its own, so that Ctrl-C in the terminal does not reach it.
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
    watch: (pid) => void tell(`watch ${pid}`),
    release: () => void tell('release'),
    end: () => {
      shell.ref();
      shell.stdin?.end();
      return ended;
    },
  };
}
