import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beganAt as beganInProc } from '../runtime/telemetry-proxy/collector.ts';

/** What is known of a sandbox that outlived the command which started it. */
export interface SandboxState {
  readonly dir: string;
  readonly server: string;
  readonly kubeconfig: string;
  readonly token: string;
  readonly kubectl: string;
  readonly startedAt: string;
  /** A shell's words for what is to be taken back once the processes are gone: a node changes more than a folder. */
  readonly cleanup: string;
  /** Where telemetry arrives, on a cluster with a node. */
  readonly sink?: string;
  /** In the order in which they are to be ended. */
  readonly processes: readonly SandboxProcess[];
}

export interface SandboxProcess {
  readonly name: string;
  readonly pid: number;
  /** When the process began, as the system says it: a number that is used again by another process does not pass for it. */
  readonly began: string;
}

const stateFile = (dir: string): string => join(dir, 'sandbox.json');

export function writeState(state: SandboxState): void {
  writeFileSync(stateFile(state.dir), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

/** The sandbox in a folder; undefined where there is none. */
export function readState(dir: string): SandboxState | undefined {
  if (!existsSync(stateFile(dir))) return undefined;
  return JSON.parse(readFileSync(stateFile(dir), 'utf8')) as SandboxState;
}

/** @throws Error that says how to start one, where there is none */
export function stateIn(dir: string): SandboxState {
  const state = readState(dir);
  if (state !== undefined) return state;
  throw new Error(
    `there is no sandbox in ${dir}. Start one with 'npm run sandbox -- up', or name its folder with --dir`,
  );
}

/** When a process began; undefined when there is no such process (any more), or only what is left of one. */
export function beganAt(pid: number): string | undefined {
  return existsSync('/proc/self/stat') ? beganInProc(pid) : beganByPs(pid);
}

function beganByPs(pid: number): string | undefined {
  const env = { ...process.env, LC_ALL: 'C' };
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env });
  return status === 0 ? stdout.trim() : undefined;
}

export const isRunning = ({ pid, began }: SandboxProcess): boolean => beganAt(pid) === began;
