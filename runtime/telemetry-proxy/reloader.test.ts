import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { settings as anySettings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { upSince } from './collector.ts';
import { configurationFile, prepare } from './files.ts';
import { Reloader, type Outcome } from './reloader.ts';
import type { CollectedNamespace, ProxySettings } from './types.ts';

/** Has the argument, the signal and the health page of a collector. It keeps a copy of each configuration that it loads. */
const program = `
import { copyFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
const [, , argument, port, loaded, stuck] = process.argv;
let since = Date.now();
const load = () => copyFileSync(argument.slice('--config='.length), loaded);
load();
process.on('SIGHUP', () => {
  if (existsSync(stuck)) return;
  load();
  since += 1;
});
createServer((_, response) => response.end(JSON.stringify({ upSince: String(since) }))).listen(port, '127.0.0.1');
`;

const folder = createTemporaryFolder();
const [file, loaded, stuck] = [join(folder, 'collector.mjs'), join(folder, 'loaded'), join(folder, 'stuck')];
let settings: ProxySettings;
let collector: ChildProcess;

async function startCollector(): Promise<void> {
  const { telemetryHealthPort: port } = settings;
  const args = [file, `--config=${configurationFile(settings)}`, String(port), loaded, stuck];
  collector = spawn(process.execPath, args, { stdio: 'ignore' });
  await eventually(async () => expect(await upSince(settings)).toBeDefined());
}

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  const [any] = fc.sample(anySettings, { numRuns: 1, seed: 1 });
  if (any === undefined) throw new Error('no sample');
  const own = { telemetryProxyDirectory: folder, listenAddress: '127.0.0.1', telemetryHealthPort: port };
  settings = { ...any, ...own, nodeLogs: false };
  prepare(settings);
  writeFileSync(file, program);
  await startCollector();
});
afterAll(() => void collector?.kill('SIGKILL'));

/** Milliseconds by which the clock of the reloader is ahead. */
let ahead = 0;
/** Milliseconds that the API server takes to answer the next request. */
let answerMs = 0;
let reloader: Reloader;
const problems: (string | undefined)[] = [];
beforeAll(() => {
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
});
beforeEach(() => {
  const pages = async function* () {
    [ahead, answerMs] = [ahead + answerMs, 0];
    yield await Promise.resolve({ resourceVersion: '1' });
  };
  problems.length = 0;
  const onReload = ({ problem }: Outcome) => void problems.push(problem);
  const options = { client: { pages } as unknown as Client, onReload };
  const { signal } = new AbortController();
  reloader = new Reloader({ ...options, logger: pino({ level: 'silent' }), signal });
});

const reconcile = (wanted: readonly CollectedNamespace[], nodeLogs = false) =>
  eventually(() => expect(reloader.reconcile({ ...settings, nodeLogs }, wanted)).toBe(true));

const of = (...names: readonly string[]): readonly CollectedNamespace[] =>
  names.map((name) => ({ name, token: `token of ${name}`, lumigo: `uid of ${name}`, sends: ['events'] }));

/** Returns the namespaces whose existing objects the collector sends. */
function listed(): readonly string[] {
  const { receivers } = JSON.parse(readFileSync(loaded, 'utf8')) as { receivers: Record<string, unknown> };
  const initial = receivers['k8sobjects/initial'] as { objects: readonly { namespaces: string[] }[] } | undefined;
  return initial?.objects[0]?.namespaces ?? [];
}

it('opens the port for nodes as soon as their key is known, without a namespace that sends', async () => {
  const isPortOpen = () => readFileSync(loaded, 'utf8').includes('otlp/nodes');
  await reconcile([]);
  expect(isPortOpen()).toBe(false);
  await reconcile([], true);
  expect(isPortOpen()).toBe(true);
});

describe('the existing objects of a namespace', () => {
  it('are sent again in full if a reload interrupts them', async () => {
    await reconcile(of('a'));
    expect(listed()).toEqual(['a']);
    ahead += 10_000;
    await reconcile(of('a', 'b'));
    expect(listed()).toEqual(['a', 'b']);
    ahead += 4_000;
    await reconcile(of('a', 'b', 'c'));
    expect(listed()).toEqual(['a', 'b', 'c']);
    ahead += 60_000;
    await reconcile(of('a', 'b', 'c', 'd'));
    expect(listed()).toEqual(['d']);
  });

  it('are sent again in full if the end of another namespace cuts them off', async () => {
    // A slow reload has a long rest, during which collected data is cut off without a reload.
    answerMs = 5_000;
    await reconcile(of('a', 'b'));
    ahead += 3_000;
    reloader.reconcile(settings, of('b'));
    ahead += 14_000;
    await reconcile(of('b'));
    expect(listed()).toEqual(['b']);
  });

  it('are not sent for ever, however often reloads interrupt them', async () => {
    let times = 0;
    for (let index = 0; index < 25; index += 1) {
      await reconcile(of('a', ...(index % 2 === 0 ? ['toggling'] : [])));
      if (listed().includes('a')) times += 1;
      ahead += 2_500;
    }
    expect(times).toBeGreaterThan(10);
    expect(times).toBeLessThan(18);
  });
});

describe('a collector that does not end its requests', () => {
  const passDeadline = async (isOver: () => boolean) => {
    ahead += 21_000;
    await eventually(() => expect(isOver()).toBe(true));
  };
  const beginReload = async (wanted: readonly CollectedNamespace[]) => {
    await reconcile([]);
    problems.length = 0;
    ahead += 60_000;
    writeFileSync(stuck, '');
    reloader.reconcile(settings, wanted);
    await eventually(() => expect(readFileSync(configurationFile(settings), 'utf8')).toContain('k8sobjects'));
    await passDeadline(() => collector.signalCode === 'SIGKILL');
    rmSync(stuck);
  };

  it('is killed, and its next process has the new configuration', async () => {
    await beginReload(of('a'));
    await startCollector();
    await reconcile(of('a'));
    expect(listed()).toEqual(['a']);
    expect(problems).toEqual([undefined]);
    expect(readFileSync(configurationFile(settings), 'utf8')).not.toContain('k8sobjects');
  });

  it('leaves a configuration that only forwards if no next process comes in time', async () => {
    await beginReload(of('b'));
    await passDeadline(() => problems.length > 0);
    expect(problems).toEqual(['the collector did not load its configuration within 20 s and was killed']);
    expect(readFileSync(configurationFile(settings), 'utf8')).not.toContain('k8sobjects');
    await startCollector();
  });
});
