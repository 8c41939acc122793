import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartName } from '../contract.ts';
import { withoutTokens } from '../wording/token.ts';
import type { Revision } from './plan-update.ts';

/** Each method throws an Error with Helm's message. */
export type Helm = ReturnType<typeof openHelm>;

/** `chart`: for example `lumigo-operator-1.2.3`. */
type HistoryEntry = Omit<Revision, 'version'> & { readonly chart: string };

const ALIAS = 'lumigo';
const ANY_VERSION = '>=0.0.0-0';
const PREFIX = new RegExp(`^${chartName}-`);

/** `limitMs`: for each command but `upgrade`, which has its own limit. A registry may accept a request and not answer. */
export function openHelm(namespace: string, environment: NodeJS.ProcessEnv, limitMs = 300_000) {
  const home = mkdtempSync(join(tmpdir(), 'lumigo-updater-'));
  const env = {
    ...environment,
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
  };
  const helm = (...args: readonly string[]) => run(args, env, limitMs);

  const indexed = async (repository: string, chart: string): Promise<readonly string[]> => {
    await helm('repo', 'add', ALIAS, repository, '--force-update');
    const found = await helm('search', 'repo', chart, '--versions', '--devel', '-o', 'json');
    const charts = JSON.parse(found) as readonly { readonly name: string; readonly version: string }[];
    return charts.filter(({ name }) => name === chart).map(({ version }) => version);
  };
  const newestIn = async (chart: string, constraints: readonly string[]): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const constraint of constraints)
      found.push(await helm('show', 'chart', chart, '--version', constraint).catch(noneIfNoMatch));
    return found.flatMap((metadata) => /^version: (\S+)$/m.exec(metadata)?.[1] ?? []);
  };

  const history = async (release: string): Promise<readonly Revision[]> => {
    const entries = await helm('history', release, '--namespace', namespace, '--max', '256', '--output', 'json');
    const revisions = JSON.parse(entries) as readonly HistoryEntry[];
    return revisions.map(({ chart, revision, status }) => ({ revision, status, version: chart.replace(PREFIX, '') }));
  };

  return {
    /** Returns the oldest revision first. */
    history,

    /** `https://…` is a repository with an index, `oci://…` a folder of a registry. */
    charts(repository: string) {
      const isRegistry = repository.startsWith('oci://');
      const chart = `${isRegistry ? repository : ALIAS}/${chartName}`;
      return {
        chart: isRegistry ? chart : `${chartName} --repo ${repository}`,
        /** A registry has no index, so it returns only the newest that meets each constraint, and the newest of all. */
        versions: (constraints: readonly string[]): Promise<readonly string[]> =>
          isRegistry ? newestIn(chart, [...constraints, ANY_VERSION]) : indexed(repository, chart),
        /** Returns the file. Throws unless a key of the keyring signed it. Without a keyring, any chart is accepted. */
        async fetch(version: string, keyring: string): Promise<string> {
          const verified = keyring === '' ? [] : ['--verify', '--keyring', keyring];
          await helm('pull', chart, '--version', version, '--destination', home, ...verified);
          return join(home, `${chartName}-${version}.tgz`);
        },
      };
    },

    /** Keeps the values that were set. */
    async upgrade(release: string, version: string, file: string, timeoutSeconds: number): Promise<void> {
      const how = ['--namespace', namespace, '--reset-then-reuse-values'];
      // --atomic waits until everything is ready. Otherwise it rolls back, and says so.
      const upgraded = helm('upgrade', release, file, ...how, '--atomic', '--timeout', `${timeoutSeconds}s`);
      await upgraded.catch((cause: unknown) => {
        throw new Error(`${version} could not be installed`, { cause });
      });
    },

    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** A registry may have no version in a range. */
function noneIfNoMatch(error: unknown): string {
  if (error instanceof Error && /could not locate a version matching/i.test(error.message)) return '';
  throw error;
}

/** Passes signals on, because Helm reverts its changes when it is stopped. */
function run(args: readonly string[], env: NodeJS.ProcessEnv, limitMs: number): Promise<string> {
  const timeout = args[0] === 'upgrade' ? undefined : limitMs;
  const child = spawn('helm', args, { env, timeout, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] });
  const pass = () => void child.kill('SIGTERM');
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, pass);
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (output[stream] += text));
  return new Promise<string>((resolve, reject) => {
    child.on('error', (cause) => reject(new Error("'helm' cannot be executed", { cause })));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output.stdout);
      const isLate = child.killed && signal === 'SIGKILL';
      const problem = isLate ? `it did not end within ${limitMs / 1_000} s` : problemIn(output.stderr);
      reject(new Error(`helm ${args[0]} failed: ${problem || `it ended with ${signal ?? code}`}`));
    });
  }).finally(() => signals.forEach((signal) => process.off(signal, pass)));
}

/** A value that Helm quotes may have a token. */
const problemIn = (stderr: string): string =>
  withoutTokens(stderr)
    .trim()
    .replace(/^Error: /, '')
    .replaceAll(/\s*\n\s*/g, '; ');
