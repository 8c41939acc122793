import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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

export interface Outcome {
  readonly passed: number;
  /** Names of failed tests, and of files whose tests did not begin. */
  readonly failed: readonly string[];
}

/** Runs Jest, and returns the outcome that its reporter (testing/summary.js) writes. This process exits with 1 after a failure. */
export function runJest(
  flags: readonly string[],
  more: { readonly [name: string]: string; readonly LUMIGO_TEST_RESULTS: string },
): Outcome {
  const { LUMIGO_TEST_RESULTS: file } = more;
  writeFileSync(file, JSON.stringify({ passed: 0, failed: ['Jest itself, which did not finish'] }));
  const args = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...flags];
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit'];
  const { status } = spawnSync(process.execPath, args, { stdio, env: { ...process.env, ...more } });
  if (status !== 0) process.exitCode = 1;
  const outcome = JSON.parse(readFileSync(file, 'utf8')) as Outcome;
  const isNamed = status === 0 || outcome.failed.length > 0;
  return isNamed ? outcome : { ...outcome, failed: [`Jest itself, which ended with ${status}`] };
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
