import { readFileSync } from 'node:fs';

/** Returns the operator's version, e.g. `1.2.3`. Only package.json has it. */
export function operatorVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
