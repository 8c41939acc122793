// Installs the packages of package-lock.json before other code runs. So this file uses Node.js alone.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath, URL } from 'node:url';

const repository = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
const why = whyInstall(repository);
if (why !== undefined) process.exitCode = await install();

async function install() {
  const started = Date.now();
  const say = (line) => process.stderr.write(`  ${line}\n`);
  const seconds = () => Math.round((Date.now() - started) / 1_000);
  say(`${why}: installing the packages of package-lock.json (npm ci)`);
  const ticker = setInterval(() => say(`npm ci: installing, ${seconds()} s`), 10_000);
  // The output is that of `npm start`. The tools are development dependencies.
  const npm = spawn('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: repository,
    stdio: ['ignore', 2, 2],
  });
  const end = await new Promise((resolve) => npm.on('error', resolve).on('close', resolve));
  clearInterval(ticker);
  if (end === 0) say(`installed in ${seconds()} s`);
  else say(`npm ci failed (${end?.message ?? `exit code ${end}`}); see its output above`);
  return end === 0 ? 0 : 1;
}

/** Returns why an installation is needed, or undefined. npm writes a lock file into a complete installation. */
function whyInstall(folder) {
  const pinned = packagesOf(join(folder, 'package-lock.json'));
  const installed = packagesOf(join(folder, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return 'node_modules is missing';
  const stale = Object.entries(pinned ?? {}).find(([path, entry]) => path !== '' && !isSame(entry, installed[path]));
  return stale === undefined ? undefined : `${stale[0]} differs from package-lock.json`;
}

/** Packages for other platforms are not installed. */
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
