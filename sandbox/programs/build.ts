import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cacheFolder, cacheKey } from './cache.ts';
import { allComponents, type Component } from './components.ts';
import { goBuild, goVersion } from './go.ts';
import { releaseLock, takeLock } from './lock.ts';

/** Says what is going on, for whoever waits. */
export type Progress = (line: string) => void;

const here = fileURLToPath(new URL('.', import.meta.url));
const PROGRESS_MS = 10_000;

/**
 * The paths of programs by name: ready-made from `KUBEBUILDER_ASSETS` where they are there, else built once per machine.
 * @throws Error with a sentence where there is no Go to build with, or the build fails.
 */
export async function ensureBinaries(names: readonly string[], progress: Progress): Promise<Record<string, string>> {
  const paths: Record<string, string> = {};
  for (const component of allComponents.filter(({ name }) => names.includes(name)))
    paths[component.name] = readyMade(component.name) ?? (await ensureBuilt(component, progress));
  return paths;
}

/** Whether a program would have to be built first. */
export function isBuilt(name: string): boolean {
  const component = allComponents.find((each) => each.name === name);
  if (component === undefined) return false;
  return readyMade(name) !== undefined || existsSync(targetOf(component, goVersion()));
}

function readyMade(name: string): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  const path = folder === undefined || folder === '' ? undefined : join(folder, name);
  return path !== undefined && existsSync(path) ? path : undefined;
}

function targetOf(component: Component, version: string): string {
  const read = (file: string) => readFileSync(join(here, component.module, file), 'utf8');
  const own = (component.sources ?? []).map(read).join('\n');
  const key = cacheKey(component, { goMod: read('go.mod'), goSum: read('go.sum'), own, goVersion: version });
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
    if (!existsSync(target)) await build(component, target, progress);
    return target;
  } finally {
    releaseLock(lock);
  }
}

async function build(component: Component, target: string, progress: Progress): Promise<void> {
  const { name, module, goPackage, ldflags, expectedSeconds, sources = [] } = component;
  // A copy of the module, so that nothing in the checkout is ever written to, and nobody else builds in the same folder.
  const folder = mkdtempSync(`${target}.`);
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1_000);
  progress(`${name}: building from ${module} (about ${expectedSeconds} s from nothing, once per machine)`);
  const ticker = setInterval(() => progress(`${name}: building, ${seconds()} s`), PROGRESS_MS);
  try {
    for (const file of ['go.mod', 'go.sum', ...sources]) copyFileSync(join(here, module, file), join(folder, file));
    const args = ['-trimpath', '-buildvcs=false', '-ldflags', ldflags, '-o', join(folder, name), goPackage];
    await goBuild(name, folder, args);
    renameSync(join(folder, name), target);
  } finally {
    clearInterval(ticker);
    rmSync(folder, { recursive: true, force: true });
  }
  progress(`${name}: built in ${seconds()} s`);
}
