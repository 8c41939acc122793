import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { archivesFor } from './archives.ts';
import { cacheFolder } from './cache.ts';
import { allComponents, type Component } from './components.ts';
import { NoGoError } from './go.ts';
import { MIRROR } from './mirror.ts';
import { buildProgram, builtProgram } from './modules.ts';
import type { Progress } from './progress.ts';
import { PublishedPrograms } from './published.ts';

const published = new PublishedPrograms({
  archives: archivesFor(process.platform, process.arch),
  cache: cacheFolder(process.env),
  mirror: process.env[MIRROR],
});

/** Returns paths of programs: from `KUBEBUILDER_ASSETS`, else downloaded, else built. @throws NoGoError if none is possible */
export async function ensureBinaries(
  names: readonly string[],
  progress: Progress = () => undefined,
): Promise<Record<string, string>> {
  const paths: Record<string, string> = {};
  for (const component of allComponents.filter(({ name }) => names.includes(name)))
    paths[component.name] = findPath(component) ?? (await obtain(component, progress));
  return paths;
}

export const isBuilt = (name: string): boolean =>
  allComponents.some((component) => component.name === name && findPath(component) !== undefined);

const findPath = (component: Component): string | undefined =>
  readyMade(component.name) ?? published.path(component.name) ?? builtProgram(component);

function readyMade(name: string): string | undefined {
  const { KUBEBUILDER_ASSETS: folder = '' } = process.env;
  const path = join(folder, name);
  return folder !== '' && existsSync(path) ? path : undefined;
}

async function obtain(component: Component, progress: Progress): Promise<string> {
  const fetched = await published.fetch(component.name, progress);
  if (fetched !== undefined) return fetched;
  try {
    return await buildProgram(component, progress);
  } catch (error) {
    if (!(error instanceof NoGoError)) throw error;
    throw new NoGoError(`${component.name}: ${error.message} ${published.howToBring(component.name)}`.trimEnd());
  }
}
