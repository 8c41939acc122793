import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { settings as anySettings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { upSince } from './collector.ts';
import { configurationFile, prepare } from './files.ts';
import { Reloader } from './reloader.ts';
import type { ProxySettings } from './types.ts';

/** Has the argument, the signal and the health page of a collector. It keeps a copy of each configuration that it loads. */
const program = `
import { copyFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [, , argument, port, loaded] = process.argv;
let since = 1;
process.on('SIGHUP', () => {
  copyFileSync(argument.slice('--config='.length), loaded);
  since += 1;
});
createServer((_, response) => response.end(JSON.stringify({ upSince: String(since) }))).listen(port, '127.0.0.1');
`;

const folder = createTemporaryFolder();
const loaded = join(folder, 'loaded');
let settings: ProxySettings;
let collector: ChildProcess;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  const [any] = fc.sample(anySettings, { numRuns: 1, seed: 1 });
  if (any === undefined) throw new Error('no sample');
  const own = { telemetryProxyDirectory: folder, listenAddress: '127.0.0.1', telemetryHealthPort: port };
  settings = { ...any, ...own, nodeLogs: false };
  prepare(settings);
  const file = join(folder, 'collector.mjs');
  writeFileSync(file, program);
  const args = [file, `--config=${configurationFile(settings)}`, String(port), loaded];
  collector = spawn(process.execPath, args, { stdio: 'ignore' });
  await eventually(async () => expect(await upSince(settings)).toBe('1'));
});
afterAll(() => collector?.kill('SIGKILL'));

describe('the configuration that the collector has loaded', () => {
  it('opens the port for nodes as soon as their key is known, without a namespace that sends', async () => {
    const { signal } = new AbortController();
    const options = { client: {} as Client, onReload: () => undefined, logger: pino({ level: 'silent' }), signal };
    const reloader = new Reloader(options);
    const reconcile = (nodeLogs: boolean) =>
      eventually(() => expect(reloader.reconcile({ ...settings, nodeLogs }, [])).toBe(true));
    const isPortOpen = () => readFileSync(loaded, 'utf8').includes('otlp/nodes');
    await reconcile(false);
    expect(isPortOpen()).toBe(false);
    await reconcile(true);
    expect(isPortOpen()).toBe(true);
  });
});
