import { execFile } from 'node:child_process';

/** Runs a program of this machine to its end, while others go on. @throws Error with what it said. */
export function tool(program: string, ...args: readonly string[]): Promise<void> {
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, maxBuffer: 64 * 1024 * 1024 }, (error, _stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`'${program} ${args.join(' ')}' failed: ${stderr.trim() || error.message}`));
    });
  });
}
