import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartName } from '../contract.ts';
import { withoutTokens } from '../wording/token.ts';
import type { Revision } from './plan-update.ts';

/** Each method throws an Error with Helm's message. */
export type Helm = ReturnType<typeof openHelm>;

interface HistoryEntry {
  readonly revision: number;
  readonly status: string;
  /** e.g. `lumigo-operator-1.2.3`. */
  readonly chart: string;
}

const ALIAS = 'lumigo';
const ANY_VERSION = '>=0.0.0-0';

export function openHelm(namespace: string, environment: NodeJS.ProcessEnv) {
  const home = mkdtempSync(join(tmpdir(), 'lumigo-updater-'));
  const env = {
    ...environment,
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
  };
  const helm = (...args: readonly string[]) => run(args, env);

  const indexed = async (repository: string, chart: string): Promise<readonly string[]> => {
    await helm('repo', 'add', ALIAS, repository, '--force-update');
    const found = await helm('search', 'repo', chart, '--versions', '--devel', '-o', 'json');
    const charts = JSON.parse(found) as readonly { readonly name: string; readonly version: string }[];
    return charts.filter(({ name }) => name === chart).map(({ version }) => version);
  };
  const newestIn = async (chart: string, range: string): Promise<readonly string[]> => {
    const metadata = await helm('show', 'chart', chart, '--version', range).catch(noneIfNoMatch);
    const [, version] = /^version: (\S+)$/m.exec(metadata) ?? [];
    return version === undefined ? [] : [version];
  };

  const history = async (release: string): Promise<readonly Revision[]> => {
    const entries = await helm('history', release, '--namespace', namespace, '--max', '256', '--output', 'json');
    return (JSON.parse(entries) as readonly HistoryEntry[]).map(({ revision, status, chart }) => ({
      revision,
      status,
      version: chart.startsWith(`${chartName}-`) ? chart.slice(chartName.length + 1) : chart,
    }));
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
        /** A registry has no index, so it returns only the newest in the range and the newest of all. */
        versions: async (range: string): Promise<readonly string[]> =>
          isRegistry
            ? [...(await newestIn(chart, range)), ...(await newestIn(chart, ANY_VERSION))]
            : indexed(repository, chart),
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
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('helm', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const pass = () => void child.kill('SIGTERM');
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, pass);
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk: Buffer) => (output[stream] += chunk.toString()));
  return new Promise<string>((resolve, reject) => {
    child.on('error', (cause) => reject(new Error("'helm' cannot be executed", { cause })));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output.stdout);
      const problem = problemIn(output.stderr) || `it ended with ${signal ?? code}`;
      reject(new Error(`helm ${args[0]} failed: ${problem}`));
    });
  }).finally(() => {
    for (const signal of signals) process.off(signal, pass);
  });
}

/** A value that Helm quotes may have a token. */
const problemIn = (stderr: string): string =>
  withoutTokens(stderr)
    .trim()
    .replace(/^Error: /, '')
    .replaceAll(/\s*\n\s*/g, '; ');
