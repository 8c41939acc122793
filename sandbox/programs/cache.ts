import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Component } from './components.ts';

/** Returns the folder of built programs, which all checkouts of this user share. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const { LUMIGO_SANDBOX_CACHE: own = '', XDG_CACHE_HOME: user = '' } = environment;
  if (own !== '') return own;
  return join(user === '' ? join(homedir(), '.cache') : user, 'lumigo-operator');
}

export interface Sources {
  readonly goMod: string;
  readonly goSum: string;
  readonly own: string;
  readonly goVersion: string;
}

/** Returns the key of a built program, which is used again until an input of its build changes. */
export function cacheKey(component: Component, { goMod, goSum, own, goVersion }: Sources): string {
  const { module, goPackage, ldflags, tags } = component;
  const parts = [module, goPackage, ldflags, goMod, goSum, own, goVersion, ...(tags === undefined ? [] : [tags])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
