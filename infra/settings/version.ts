import { readFileSync } from 'node:fs';

/** The operator's version, e.g. `1.2.3`: package.json is the one place where it stands. */
export function operatorVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
