import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startReaper } from '../control-plane/reaper.ts';
import { freePorts, launch } from '../control-plane/processes.ts';
import { ensureBinaries } from '../programs/build.ts';
import { eventually } from '../testing/eventually.ts';

export type Registry = Awaited<ReturnType<typeof startRegistry>>;

const READY_MS = 20_000;

/** Starts a registry on loopback, without TLS. @param refusing true: it requires a password that no client has */
export async function startRegistry({ refusing = false } = {}) {
  const { registry: path = '' } = await ensureBinaries(['registry']);
  const [port] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'lumigo-registry-'));
  const host = `127.0.0.1:${port}`;
  const contents = join(folder, 'contents');
  const users = join(folder, 'users');
  mkdirSync(contents);
  writeFileSync(users, '');
  const config = join(folder, 'config.yaml');
  writeFileSync(
    config,
    stringify({
      version: '0.1',
      log: { level: 'warn', accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: contents } },
      http: { addr: host },
      ...(refusing ? { auth: { htpasswd: { realm: 'nobody', path: users } } } : {}),
    }),
  );
  const reaper = startReaper(folder);
  const running = launch({ name: 'registry', path, args: ['serve', config], folder, reaper });
  const answers = async () => {
    const { status } = await fetch(`http://${host}/v2/`);
    if (status !== (refusing ? 401 : 200)) throw new Error(`it answers ${status}`);
  };
  const complaint = 'the registry did not answer';
  await eventually(answers, { complaint, timeoutMs: READY_MS, processes: [running] });
  return {
    /** For example 127.0.0.1:12345. */
    host,
    folder: contents,
    async stop(): Promise<void> {
      await running.stop();
      await reaper.stop();
    },
  };
}
