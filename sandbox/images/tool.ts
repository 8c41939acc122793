import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program of this machine to its end, while others go on. @throws Error with what it said. */
export async function tool(program: string, ...args: readonly string[]): Promise<void> {
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
  const running = promisify(execFile)(program, args, { env, maxBuffer: 64 * 1024 * 1024 });
  await running.catch(({ stderr = '', message }: Error & { readonly stderr?: string }) => {
    throw new Error(`'${program} ${args.join(' ')}' failed: ${stderr.trim() || message}`);
  });
}
