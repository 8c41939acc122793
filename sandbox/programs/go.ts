import { spawn, spawnSync } from 'node:child_process';
import { finished } from '../run.ts';
import { components, oldestGo } from './components.ts';

let known: string | undefined;

/** Go is missing or too old. The message says what to do. */
export class NoGoError extends Error {
  override readonly name = 'NoGoError';
}

/** Returns the output of `go version`. @throws NoGoError if Go is missing or too old */
export function goVersion(): string {
  known ??= askVersion();
  return known;
}

function askVersion(): string {
  const { stdout, error } = spawnSync('go', ['version'], { encoding: 'utf8', env: goEnvironment() });
  const needed = oldestGo.join('.');
  if (error !== undefined)
    throw new NoGoError(
      `Go is not installed (no 'go' on the PATH). It builds the programs that cannot be fetched. Install Go ${needed} or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder with ${components.map(({ name }) => name).join(', ')}.`,
    );
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(stdout) ?? [];
  const isOld = Number(major) < oldestGo[0] || (Number(major) === oldestGo[0] && Number(minor) < oldestGo[1]);
  if (isOld)
    throw new NoGoError(
      `Go ${needed} or newer is needed to build Kubernetes, but this is: ${stdout.trim()}. Install a newer version (https://go.dev/dl).`,
    );
  return stdout.trim();
}

/** Runs `go build`, which ends with this process. @throws Error with the end of its output */
export async function goBuild(name: string, folder: string, args: readonly string[]): Promise<void> {
  // In a separate process group, a signal reaches the compilers as well.
  const child = spawn('go', ['build', ...args], {
    cwd: folder,
    env: goEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
  };
  process.once('exit', stop);
  const { code, stderr } = await finished(child);
  process.removeListener('exit', stop);
  if (code === 0) return;
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('go: downloading'));
  throw new Error(
    `building ${name} failed: 'go build ${args.join(' ')}' exited with ${code}\n${said.slice(-15).join('\n')}`,
  );
}

/** Downloads one module of a go.mod, and checks it by go.sum. Returns Go's JSON. @throws Error with its output */
export function goDownload(folder: string, module: string): string {
  goVersion();
  const args = ['mod', 'download', '-json', module];
  const { status, stdout, stderr } = spawnSync('go', args, { cwd: folder, encoding: 'utf8', env: goEnvironment() });
  if (status !== 0) throw new Error(`'go ${args.join(' ')}' failed: ${stdout}${stderr}`);
  return stdout;
}

/** The settings of the machine must not change a build. */
const goEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  GOFLAGS: '-mod=mod',
  CGO_ENABLED: '0',
  GOWORK: 'off',
});
