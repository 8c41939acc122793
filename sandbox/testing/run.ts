import { beganAt } from '../state.ts';
import { spawn, type ChildProcess } from 'node:child_process';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of the project's own programs as a user would, with this Node.js; the environment is the caller's unless given. */
export const runScript = (...what: Parameters<typeof startScript>): Promise<Finished> => finished(startScript(...what));

export const startScript = (
  file: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): ChildProcess =>
  spawn(process.execPath, ['--import', 'tsx', file, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });

export function finished(child: ChildProcess): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (chunk: Buffer) => (output[stream] += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...output })));
}

/** Whether a process is there; one that has ended and waits for its parent to notice is not. */
export const isAlive = (pid: number): boolean => beganAt(pid) !== undefined;
