import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Component } from './components.ts';

/** Where built programs are kept: outside the checkout, shared by all checkouts of this user. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const own = environment['LUMIGO_SANDBOX_CACHE'];
  if (own !== undefined && own !== '') return own;
  const user = environment['XDG_CACHE_HOME'];
  return join(user !== undefined && user !== '' ? user : join(homedir(), '.cache'), 'lumigo-operator');
}

export interface Sources {
  readonly goMod: string;
  readonly goSum: string;
  /** The program's own sources, where it has some. */
  readonly own: string;
  /** What `go version` says. */
  readonly goVersion: string;
}

/** Whatever changes the program changes this key: a built program is used again as long as its key is the same. */
export function cacheKey({ module, goPackage, ldflags }: Component, { goMod, goSum, own, goVersion }: Sources): string {
  const parts = [module, goPackage, ldflags, goMod, goSum, own, goVersion];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
