import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startGuardian } from '../control-plane/guardian.ts';
import { freePorts, launch, whenAnswering } from '../control-plane/processes.ts';
import { ensureBinaries } from '../programs/build.ts';

/** A registry of images and charts on loopback, without TLS. */
export interface Registry {
  /** Such as 127.0.0.1:12345. */
  readonly host: string;
  /** Where it keeps its contents. */
  readonly folder: string;
  stop(): Promise<void>;
}

const READY_MS = 20_000;

/** @param refusing whether it asks for a password, which nobody has */
export async function startRegistry({ refusing = false } = {}): Promise<Registry> {
  const { registry: path = '' } = await ensureBinaries(['registry'], () => undefined);
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
  const guardian = startGuardian(folder);
  const running = launch({ name: 'registry', path, args: ['serve', config], folder, guardian });
  const awaited = { complaint: 'the registry did not answer', withinMs: READY_MS, processes: [running] };
  await whenAnswering(awaited, () =>
    fetch(`http://${host}/v2/`).then(
      ({ status }) => status === (refusing ? 401 : 200),
      () => false,
    ),
  );
  return {
    host,
    folder: contents,
    async stop() {
      await running.stop();
      await guardian.end();
    },
  };
}
