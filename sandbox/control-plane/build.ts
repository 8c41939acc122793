import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cacheFolder, cacheKey } from './cache.ts';
import { components, oldestGo, type Component } from './components.ts';

/** Says what is going on, for whoever waits. */
export type Progress = (line: string) => void;

const here = fileURLToPath(new URL('.', import.meta.url));
const PROGRESS_MS = 10_000;
/** The file in a lock's folder that says which process holds it. */
const OWNER = 'pid';
const FRESH_LOCK_MS = 5_000;

/**
 * The paths of programs by name: ready-made from `KUBEBUILDER_ASSETS` where they are there, else built once per machine.
 * @throws Error with a sentence where there is no Go to build with, or the build fails.
 */
export async function ensureBinaries(names: readonly string[], progress: Progress): Promise<Record<string, string>> {
  const paths: Record<string, string> = {};
  for (const component of components.filter(({ name }) => names.includes(name)))
    paths[component.name] = readyMade(component.name) ?? (await ensureBuilt(component, progress));
  return paths;
}

/** Whether a program would have to be built first. */
export function isBuilt(name: string): boolean {
  const component = components.find((each) => each.name === name);
  if (component === undefined) return false;
  return readyMade(name) !== undefined || existsSync(targetOf(component, goVersion()));
}

function readyMade(name: string): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  const path = folder === undefined || folder === '' ? undefined : join(folder, name);
  return path !== undefined && existsSync(path) ? path : undefined;
}

function goVersion(): string {
  const { stdout, error } = spawnSync('go', ['version'], { encoding: 'utf8', env: goEnvironment() });
  const needed = oldestGo.join('.');
  if (error !== undefined)
    throw new Error(
      `Go is not installed (no 'go' on the PATH); the sandbox builds Kubernetes with it. Install Go ${needed} or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder with ${components.map(({ name }) => name).join(', ')}.`,
    );
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(stdout) ?? [];
  const isOld = Number(major) < oldestGo[0] || (Number(major) === oldestGo[0] && Number(minor) < oldestGo[1]);
  if (isOld)
    throw new Error(
      `Go ${needed} or newer is needed to build Kubernetes; this is: ${stdout.trim()}. Install a newer one (https://go.dev/dl).`,
    );
  return stdout.trim();
}

/** What is built is the module's own matter, not the machine's settings'. */
const goEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  GOFLAGS: '-mod=mod',
  CGO_ENABLED: '0',
  GOWORK: 'off',
});

function targetOf(component: Component, version: string): string {
  const read = (file: string) => readFileSync(join(here, component.module, file), 'utf8');
  const key = cacheKey(component, { goMod: read('go.mod'), goSum: read('go.sum'), goVersion: version });
  return join(cacheFolder(process.env), 'bin', `${component.name}-${key}`);
}

async function ensureBuilt(component: Component, progress: Progress): Promise<string> {
  const target = targetOf(component, goVersion());
  if (existsSync(target)) return target;
  const lock = `${target}.building`;
  mkdirSync(join(cacheFolder(process.env), 'bin'), { recursive: true });
  while (!takeLock(lock)) {
    progress(`${component.name}: another process is building it; waiting`);
    await sleep(PROGRESS_MS / 2);
    if (existsSync(target)) return target;
  }
  try {
    if (!existsSync(target)) await build(component, lock, target, progress);
    return target;
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** A folder is made by one process only; what a process that is gone has left behind is taken over. */
function takeLock(lock: string): boolean {
  if (existsSync(lock) && !isHeld(lock)) rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, OWNER), String(process.pid));
    return true;
  } catch {
    return false;
  }
}

function isHeld(lock: string): boolean {
  const owner = join(lock, OWNER);
  // Made a moment ago, and its owner not written yet.
  if (!existsSync(owner)) return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < FRESH_LOCK_MS;
  try {
    return process.kill(Number(readFileSync(owner, 'utf8')), 0);
  } catch {
    return false;
  }
}

async function build(component: Component, folder: string, target: string, progress: Progress): Promise<void> {
  const { name, module, goPackage, ldflags, expectedSeconds } = component;
  // A copy of the module, so that nothing in the checkout is ever written to.
  for (const file of ['go.mod', 'go.sum']) copyFileSync(join(here, module, file), join(folder, file));
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1_000);
  progress(`${name}: building from ${goPackage} (about ${expectedSeconds} s from nothing, once per machine)`);
  const ticker = setInterval(() => progress(`${name}: building, ${seconds()} s`), PROGRESS_MS);
  const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', ldflags, '-o', join(folder, name), goPackage];
  const errors: string[] = [];
  const child = spawn('go', args, { cwd: folder, env: goEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const stop = () => child.kill();
  process.once('exit', stop);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  process.removeListener('exit', stop);
  clearInterval(ticker);
  if (code !== 0) {
    const said = errors
      .join('')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('go: downloading'));
    throw new Error(
      `building ${name} failed: 'go ${args.join(' ')}' exited with ${code}\n${said.slice(-15).join('\n')}`,
    );
  }
  renameSync(join(folder, name), target);
  progress(`${name}: built in ${seconds()} s`);
}
