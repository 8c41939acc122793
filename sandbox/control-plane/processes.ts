import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Reaper } from './reaper.ts';

export type Running = ReturnType<typeof launch>;

export interface Launch {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly reaper: Reaper;
  /** The time before the process is killed. Default: 15 s. */
  readonly graceMs?: number;
  /** Returns the process that gets the signals, for a program that only waits for it. Default: the program. */
  readonly findSignalled?: (pid: number) => number | undefined;
}

/** Starts a program with a log in the cluster's folder. If the program is not stopped, the reaper ends it. */
export function launch(what: Launch) {
  const { name, path, args, folder, environment, reaper, graceMs = 15_000, findSignalled } = what;
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(path, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: environment ?? minimalEnvironment(),
  });
  closeSync(log);
  child.unref();
  // Without a listener, the error would end this process. The missing pid reports the same.
  child.on('error', () => undefined);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} cannot be started: ${path} cannot be executed`);
  reaper.watch(pid);
  const died = new Promise<string>((resolve) =>
    child.once('exit', (code, signal) =>
      resolve(`${name} ended (${signal ?? `exit code ${code}`}); its log ends with:\n${tail(logFile)}`),
    ),
  );
  return {
    name,
    pid,
    logFile,
    /** Resolves with a sentence when the process ends. */
    died,
    async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const signalled = findSignalled?.(pid) ?? pid;
      kill(signalled, signal);
      const insist = setTimeout(() => kill(signalled, 'SIGKILL'), graceMs);
      child.ref();
      await died;
      clearTimeout(insist);
    },
  };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has just exited.
  }
}

/** With less frequent garbage collection, an API server starts with a quarter less CPU and uses 110 MB more. */
export const goEnvironment = { GOGC: '400' };
/** The user's environment must not change the programs of the cluster. */
const minimalEnvironment = () => ({ ...goEnvironment, PATH: process.env['PATH'], HOME: process.env['HOME'] });

/** An error would end this process, but the folder may be deleted already. */
function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-12).join('\n');
  } catch {
    return '';
  }
}

/** The ports are below the ephemeral ranges (32768 on Linux, 49152 elsewhere) and above 10,080, the last port that `fetch` blocks. */
const FIRST_PORT = 10_100;
const PORTS = 21_900;

/** The system's own choice of a port would not do: an outgoing connection may get the port before the test listens. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if ((await claim(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** A bound UDP socket claims the port of its number. Node.js keeps it, so the claim ends with this process. */
function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
