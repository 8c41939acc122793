import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface ProgramOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly both?: boolean;
}

/** Runs a program. @throws Error with its step and last line, without further arguments, which can be paths of keys */
export async function program(name: string, args: readonly string[], options: ProgramOptions = {}): Promise<string> {
  const isFlag = (arg: string): boolean => arg.startsWith('-');
  const own = args.slice(args.findIndex((arg) => !isFlag(arg)));
  const step = [name, ...own.slice(0, 2).filter((arg) => !isFlag(arg))].join(' ');
  const env = { ...process.env, ...options.environment };
  const running = execute(name, args, { cwd: options.cwd, env, maxBuffer: Infinity });
  // A program that reads its input must not wait for any.
  running.child.stdin?.end();
  const result = await running.catch((error: ExecFileException) => error);
  const { stdout = '', stderr = '' } = result;
  // The code is a text if the program could not start, a number if it failed, and null after a signal.
  if (!('code' in result)) return options.both === true ? stdout + stderr : stdout;
  if (typeof result.code === 'string') throw new Error(`${name} is not installed, but \`${step}\` needs it`);
  throw new Error(`${step} failed: ${getLastLine(stderr) ?? getLastLine(stdout) ?? `exit code ${result.code}`}`);
}

const getLastLine = (text: string): string | undefined =>
  text
    .split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '' && !line.startsWith('Usage'));
