import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Reaper } from './reaper.ts';

export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves with what to say when the process has ended by itself. */
  readonly died: Promise<string>;
  /** Ends it and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface Launch {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly reaper: Reaper;
  /** How long it may take to end, before it is killed; 15 s where that is left out. */
  readonly graceMs?: number;
}

const GRACE_MS = 15_000;

/** Starts a program whose output goes to a log in the cluster's folder; the reaper ends it when nobody else does. */
export function launch({ name, path, args, folder, environment, reaper, graceMs = GRACE_MS }: Launch): Running {
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(path, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: environment ?? minimalEnvironment(),
  });
  closeSync(log);
  child.unref();
  // Without a listener the error would end this process; that there is no pid says the same.
  child.on('error', () => undefined);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} cannot be started: ${path} cannot be executed`);
  reaper.watch(pid);
  const exited = new Promise<string>((resolve) =>
    child.once('exit', (code, signal) =>
      resolve(`${name} ended (${signal ?? `exit code ${code}`}); its log ends with:\n${tail(logFile)}`),
    ),
  );
  return {
    name,
    pid,
    logFile,
    died: exited,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const insist = setTimeout(() => child.kill('SIGKILL'), graceMs);
      child.ref();
      await exited;
      clearTimeout(insist);
    },
  };
}

/** Garbage is collected less often: a quarter of the CPU that an API server takes to start, for 110 MB. */
export const goEnvironment = { GOGC: '400' };
/** Nothing of the user's environment changes how the cluster's programs behave. */
const minimalEnvironment = () => ({ ...goEnvironment, PATH: process.env['PATH'], HOME: process.env['HOME'] });

const tail = (file: string): string => readFileSync(file, 'utf8').trimEnd().split('\n').slice(-12).join('\n');

/**
 * Below the range that systems take the near ends of outgoing connections from (32768 and up, 49152 elsewhere), and above 10,080, the
 * last port that `fetch` refuses to ask.
 */
const FIRST_PORT = 10_100;
const PORTS = 21_900;

/** By what a port is taken for whoever asked, whether or not something listens there already; it goes with this process. */
const claims = new Set<Socket>();

/**
 * Ports that nobody listens on at this moment, all different, and none that was given before, by this process or another that lives:
 * tests run side by side, and listen some time after they have asked. They are not the system's own choice: those it gives to whoever
 * connects somewhere next.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if ((await claim(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** Binds the UDP port of the same number, which nothing here listens on: the kernel gives it to one process. */
function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(claims.add(socket).has(socket)));
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
