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

/**
 * The paths of programs by name: ready-made from `KUBEBUILDER_ASSETS` where they are there, else fetched as their projects
 * publish them, else built from Go modules; each once per machine.
 * @throws NoGoError where a program can neither be fetched nor built, Error where a build fails; both say what to do.
 */
export async function ensureBinaries(
  names: readonly string[],
  progress: Progress = () => undefined,
): Promise<Record<string, string>> {
  const paths: Record<string, string> = {};
  for (const component of allComponents.filter(({ name }) => names.includes(name)))
    paths[component.name] = pathOf(component) ?? (await obtain(component, progress));
  return paths;
}

/** Whether a program is there; else it would have to be fetched or built first. */
export function isBuilt(name: string): boolean {
  const component = allComponents.find((each) => each.name === name);
  return component !== undefined && pathOf(component) !== undefined;
}

const pathOf = (component: Component): string | undefined =>
  readyMade(component.name) ?? published.path(component.name) ?? builtProgram(component);

function readyMade(name: string): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  const path = folder === undefined || folder === '' ? undefined : join(folder, name);
  return path !== undefined && existsSync(path) ? path : undefined;
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
