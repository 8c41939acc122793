import { spawn } from 'node:child_process';

export interface ProgramOptions {
  readonly cwd?: string;
  /** Beside this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What it reads from its standard input. */
  readonly input?: string;
  /** Whether what it says on its standard error is given back as well. */
  readonly both?: boolean;
}

/**
 * Runs a program of a release to its end, and gives back what it printed.
 * @throws Error in one sentence: which step of which program failed, and the last that it said. Its further arguments are left out,
 * since some name files of keys.
 */
export async function program(name: string, args: readonly string[], options: ProgramOptions = {}): Promise<string> {
  const isFlag = (arg: string): boolean => arg.startsWith('-');
  const own = args.slice(args.findIndex((arg) => !isFlag(arg)));
  const step = [name, ...own.slice(0, 2).filter((arg) => !isFlag(arg))].join(' ');
  const child = spawn(name, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  // Whoever ends without reading it is heard by its exit code.
  child.stdin.on('error', () => undefined).end(options.input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(new Error(`${name} is not installed; it is needed for: ${step}`)));
    child.on('close', resolve);
  });
  if (code === 0) return options.both === true ? said.stdout + said.stderr : said.stdout;
  throw new Error(`${step} failed: ${lastOf(said.stderr) ?? lastOf(said.stdout) ?? `exit code ${code}`}`);
}

const lastOf = (text: string): string | undefined =>
  text
    .split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '' && !line.startsWith('Usage'));
