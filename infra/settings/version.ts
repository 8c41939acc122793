import { readFileSync } from 'node:fs';

const manifest = new URL('../../package.json', import.meta.url);

/** Returns the operator's version, e.g. `1.2.3`. Only package.json has it. */
export const operatorVersion = (): string =>
  (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
