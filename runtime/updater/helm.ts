import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartName } from '../contract.ts';
import { withoutTokens } from '../wording/token.ts';
import { chartSource } from './chart-source.ts';
import type { Revision } from './plan-update.ts';

interface HelmOptions {
  readonly namespace: string;
  /** How to reach the cluster from outside of it, as flags of Helm; left out: as the pod's account. */
  readonly flags: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** What the updater asks of the `helm` on the PATH. Each method throws an Error with what Helm says when it fails. */
export type Helm = ReturnType<typeof openHelm>;

interface HistoryEntry {
  readonly revision: number;
  readonly status: string;
  /** Name and version, e.g. `lumigo-operator-1.2.3`. */
  readonly chart: string;
}

/** The `helm` on the PATH, with its files in a folder of its own. */
export function openHelm({ namespace, flags, environment }: HelmOptions) {
  const home = mkdtempSync(join(tmpdir(), 'lumigo-updater-'));
  const env = {
    ...environment,
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
  };
  const helm = (...args: readonly string[]) => run([...args, ...flags], env);
  return {
    /** Oldest revision first. */
    async history(release: string): Promise<readonly Revision[]> {
      const entries = await helm('history', release, '--namespace', namespace, '--max', '256', '--output', 'json');
      return (JSON.parse(entries) as readonly HistoryEntry[]).map(({ revision, status, chart }) => ({
        revision,
        status,
        version: chart.startsWith(`${chartName}-`) ? chart.slice(chartName.length + 1) : chart,
      }));
    },
    /** The charts of a repository (chart-source.ts). */
    charts: (repository: string) => chartSource({ helm, repository, folder: home }),
    /** Upgrades to a chart in a file, keeps the values that were set, and rolls back if it does not get ready. */
    async upgrade(release: string, file: string, timeoutSeconds: number): Promise<void> {
      const how = ['--namespace', namespace, '--reset-then-reuse-values'];
      // --atomic waits until everything is ready, and rolls back otherwise.
      await helm('upgrade', release, file, ...how, '--atomic', '--timeout', `${timeoutSeconds}s`);
    },
    /** Removes what Helm has written down meanwhile. */
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Ends with the process: told to stop, Helm takes back what it has begun. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('helm', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const pass = () => void child.kill('SIGTERM');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, pass);
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk: Buffer) => (output[stream] += chunk.toString()));
  return new Promise<string>((resolve, reject) => {
    child.on('error', (cause) => reject(new Error("'helm' cannot be executed", { cause })));
    child.on('close', (code) =>
      code === 0 ? resolve(output.stdout) : reject(new Error(`helm ${args[0]} failed: ${said(output.stderr)}`)),
    );
  }).finally(() => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, pass);
  });
}

/** What Helm said, on one line; should a value with a token in it be quoted, not that. */
const said = (stderr: string): string =>
  withoutTokens(stderr)
    .trim()
    .replace(/^Error: /, '')
    .replaceAll(/\s*\n\s*/g, '; ');
