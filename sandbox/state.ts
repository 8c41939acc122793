import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beganAt as beganInProc } from '../runtime/telemetry-proxy/collector.ts';

export interface SandboxState {
  readonly dir: string;
  readonly server: string;
  readonly kubeconfig: string;
  readonly token: string;
  readonly kubectl: string;
  readonly startedAt: string;
  /** Shell commands that undo the node's changes of this machine, after the processes exit. */
  readonly cleanup: string;
  readonly sink: string | undefined;
  /** In the order of their end. */
  readonly processes: readonly SandboxProcess[];
}

export interface SandboxProcess {
  readonly name: string;
  readonly pid: number;
  /** The system's start time of the process. It distinguishes another process with the same id. */
  readonly began: string;
}

const stateFile = (dir: string): string => join(dir, 'sandbox.json');

export function writeState(state: SandboxState): void {
  writeFileSync(stateFile(state.dir), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

export function readState(dir: string): SandboxState | undefined {
  if (!existsSync(stateFile(dir))) return undefined;
  return JSON.parse(readFileSync(stateFile(dir), 'utf8')) as SandboxState;
}

/** @throws Error that says how to start a sandbox, if there is none */
export function stateIn(dir: string): SandboxState {
  const state = readState(dir);
  if (state !== undefined) return state;
  throw new Error(
    `there is no sandbox in ${dir}. Start one with 'npm run sandbox -- up', or name its folder with --dir`,
  );
}

/** Returns undefined if there is no such process, or only a zombie. */
export function beganAt(pid: number): string | undefined {
  return existsSync('/proc/self/stat') ? beganInProc(pid) : beganByPs(pid);
}

function beganByPs(pid: number): string | undefined {
  const env = { ...process.env, LC_ALL: 'C' };
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env });
  return status === 0 ? stdout.trim() : undefined;
}

export const isRunning = ({ pid, began }: SandboxProcess): boolean => beganAt(pid) === began;
