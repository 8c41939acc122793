import { spawn } from 'node:child_process';

export interface ProgramOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly both?: boolean;
}

/** Runs a program. @throws Error with its step and last line, without further arguments, which can be paths of keys */
export async function program(name: string, args: readonly string[], options: ProgramOptions = {}): Promise<string> {
  const isFlag = (arg: string): boolean => arg.startsWith('-');
  const own = args.slice(args.findIndex((arg) => !isFlag(arg)));
  const step = [name, ...own.slice(0, 2).filter((arg) => !isFlag(arg))].join(' ');
  const child = spawn(name, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  // If a program exits without reading its input, its exit code reports the problem.
  child.stdin.on('error', () => undefined).end(options.input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(new Error(`${name} is not installed, but \`${step}\` needs it`)));
    child.on('close', resolve);
  });
  if (code === 0) return options.both === true ? output.stdout + output.stderr : output.stdout;
  throw new Error(`${step} failed: ${getLastLine(output.stderr) ?? getLastLine(output.stdout) ?? `exit code ${code}`}`);
}

const getLastLine = (text: string): string | undefined =>
  text
    .split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '' && !line.startsWith('Usage'));
