// Before anything of this repository runs: what package-lock.json pins is installed, if it is not. This file stands on
// Node.js alone, as nothing else is there yet.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const repository = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
const why = whyInstall(repository);
if (why !== undefined) {
  process.stderr.write(`  ${why}: installing what package-lock.json pins (npm ci)\n`);
  const started = Date.now();
  // Its words go where ours go. The tools that run everything here are development dependencies.
  const npm = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: repository,
    stdio: ['ignore', 2, 2],
  });
  if (npm.status === 0) {
    process.stderr.write(`  installed in ${Math.round((Date.now() - started) / 1_000)} s\n`);
  } else {
    process.stderr.write(
      `  npm ci failed (${npm.error?.message ?? `exit code ${npm.status}`}); what it said is above\n`,
    );
    process.exitCode = 1;
  }
}

/** Why an installation is needed, or undefined. npm leaves a lock file of its own in what it has installed whole. */
function whyInstall(folder) {
  const pinned = packagesOf(join(folder, 'package-lock.json'));
  const installed = packagesOf(join(folder, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return 'node_modules is missing';
  const stale = Object.entries(pinned ?? {}).find(([path, entry]) => path !== '' && !isSame(entry, installed[path]));
  return stale === undefined ? undefined : `${stale[0]} is not as package-lock.json pins it`;
}

/** What is for other platforms is left out. */
function isSame(pinned, installed) {
  if (installed === undefined) return pinned.optional === true || pinned.devOptional === true;
  return pinned.version === installed.version && pinned.integrity === installed.integrity;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
