import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFolder } from '../with-folder.ts';
import { cacheFolder, cacheKey } from './cache.ts';
import type { Component } from './components.ts';
import { goBuild, goDownload, goVersion, NoGoError } from './go.ts';
import { oneAtATime } from './lock.ts';
import { alive, stopwatch, type Progress } from './progress.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

export function builtProgram(component: Component): string | undefined {
  try {
    const target = getTarget(component);
    return existsSync(target) ? target : undefined;
  } catch (error) {
    if (error instanceof NoGoError) return undefined;
    throw error;
  }
}

/** Builds a program from its pinned module unless it exists. @throws NoGoError without Go, Error if the build fails */
export async function buildProgram(component: Component, progress: Progress): Promise<string> {
  const target = getTarget(component);
  const waiting = () => progress(`${component.name}: another process is building it; waiting`);
  await oneAtATime(target, waiting, () => build(component, target, progress));
  return target;
}

function getTarget(component: Component): string {
  const read = (file: string) => readFileSync(join(here, component.module, file), 'utf8');
  const own = (component.sources ?? []).map(read).join('\n');
  const key = cacheKey(component, { goMod: read('go.mod'), goSum: read('go.sum'), own, goVersion: goVersion() });
  return join(cacheFolder(process.env), 'bin', `${component.name}-${key}`);
}

/** Returns the folder of a pinned module, downloaded if needed. @throws Error if it is unavailable */
export function moduleFolder({ module, goPackage }: Pick<Component, 'module' | 'goPackage'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'lumigo-module-'));
  try {
    for (const file of ['go.mod', 'go.sum']) copyFileSync(join(here, module, file), join(folder, file));
    return (JSON.parse(goDownload(folder, goPackage)) as { Dir: string }).Dir;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function build(component: Component, target: string, progress: Progress): Promise<void> {
  const { name, module, goPackage, ldflags, tags = '', expectedSeconds, sources = [] } = component;
  const seconds = stopwatch();
  progress(`${name}: building from Go modules (about ${expectedSeconds} s, once per machine)`);
  const flags = ['-trimpath', '-buildvcs=false', '-tags', tags, '-ldflags', ldflags];
  // A copy of the module is built, so the checkout is never written to, and no other process builds in the folder.
  await withFolder(async (folder) => {
    for (const file of ['go.mod', 'go.sum', ...sources])
      copyFileSync(join(here, module, file), join(folder, basename(file)));
    await alive(
      progress,
      (passed) => `${name}: building, ${passed} s`,
      () => goBuild(name, folder, [...flags, '-o', join(folder, name), goPackage]),
    );
    renameSync(join(folder, name), target);
  }, `${target}.`);
  progress(`${name}: built in ${seconds()} s`);
}
