import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { beganAt } from './state.ts';

export interface Finished {
  /** Null if the program is missing or was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  /** Default: this process's environment, with the system's own program folders in PATH. */
  readonly env?: NodeJS.ProcessEnv;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const ownEnvironment = () => ({ ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` });

/** Runs a program to its end. Returns its output. @throws Error with the output of a failure */
export function run(program: string, args: readonly string[], options?: RunOptions): string {
  const given = { env: ownEnvironment(), maxBuffer: MAX_OUTPUT_BYTES, ...options };
  const { status, error, ...output } = spawnSync(program, args, { ...given, encoding: 'utf8' });
  const stderr = error === undefined ? output.stderr : error.message;
  return toOutput(program, args, { code: status, stdout: output.stdout, stderr });
}

export const runMeanwhile = async (program: string, args: readonly string[], options?: RunOptions): Promise<string> =>
  toOutput(program, args, await runToEnd(program, args, { env: ownEnvironment(), ...options }));

export const runToEnd = (program: string, args: readonly string[], options?: RunOptions): Promise<Finished> =>
  // Named, since a test's own variables are not those of the process that runs it.
  finished(spawn(program, args, { env: process.env, ...options, stdio: ['ignore', 'pipe', 'pipe'] }));

export const runScript = (...what: Parameters<typeof startScript>): Promise<Finished> => finished(startScript(...what));

export const startScript = (file: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
  spawn(process.execPath, ['--import', 'tsx', file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });

export function finished(child: ChildProcess): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (chunk: Buffer) => (output[stream] += chunk.toString()));
  return new Promise((resolve) => {
    child.on('error', () => resolve({ ...output, code: null, stderr: `${child.spawnfile} is not installed` }));
    child.on('close', (code) => resolve({ code, ...output }));
  });
}

function toOutput(program: string, args: readonly string[], { code, stdout, stderr }: Finished): string {
  if (code === 0) return stdout;
  throw new Error(`'${program} ${args.join(' ')}' failed: ${stderr.trim()}`);
}

/** Returns true if a process exists. A zombie does not count. */
export const isAlive = (pid: number): boolean => beganAt(pid) !== undefined;
