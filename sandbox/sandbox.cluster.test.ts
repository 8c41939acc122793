import { describe, expect, it } from '@jest/globals';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { lumigo } from '../runtime/contract.ts';
import { createClient } from '../runtime/kubernetes/http/client.ts';
import { fromKubeconfig } from '../runtime/kubernetes/http/kubeconfig.ts';
import { createTransport } from '../runtime/kubernetes/http/transport.ts';
import { isAlive, runScript } from './run.ts';
import { writeState } from './state.ts';
import { createTemporaryFolder } from './testing/temporary-folder.ts';

const cli = 'sandbox/sandbox.ts';
const folder = createTemporaryFolder();

interface Up {
  readonly kubeconfig: string;
  readonly server: string;
  readonly token: string;
  readonly pids: Readonly<Record<string, number>>;
}

describe('npm run sandbox', () => {
  it('up replaces a sandbox that crashed, status shows the operator, and down removes all of it', async () => {
    const dir = join(folder, 'one');
    mkdirSync(dir);
    const crashed = { dir, processes: [], cleanup: `touch ${dir}-cleaned`, sink: undefined, startedAt: '' };
    writeState({ ...crashed, server: '', kubeconfig: '', token: '', kubectl: '' });
    const up = await runScript(cli, ['up', '--dir', dir, '--json']);
    expect([up.code, existsSync(`${dir}-cleaned`)]).toEqual([0, true]);
    const { kubeconfig, server, token, pids } = JSON.parse(up.stdout) as Up;
    expect(Object.keys(pids).sort()).toEqual(['apiserver', 'controllerManager', 'etcd', 'manager']);
    expect(Object.values(pids).every(isAlive)).toBe(true);

    const connection = await fromKubeconfig({ path: kubeconfig });
    expect(connection.server.href).toBe(`${server}/`);
    expect(await connection.authorization()).toBe(`Bearer ${token}`);
    const transport = createTransport(connection, { userAgent: 'test' });
    const { value } = await createClient(transport).pages(lumigo).next();
    expect(value?.items).toEqual([]);
    transport.close();

    const again = await runScript(cli, ['up', '--dir', dir]);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/a sandbox already runs in .* Stop it with 'npm run sandbox -- down --dir .*'/);

    const status = await runScript(cli, ['status', '--dir', dir, '--json']);
    expect(status.code).toBe(0);
    expect(JSON.parse(status.stdout)).toMatchObject({ ready: true, pids });

    process.kill(pids['manager'] ?? 0, 'SIGKILL');
    const damaged = await runScript(cli, ['status', '--dir', dir]);
    expect(damaged.code).toBe(1);
    expect(damaged.stdout).toMatch(/manager +\d+ +stopped/);

    expect((await runScript(cli, ['down', '--dir', dir])).code).toBe(0);
    expect(Object.values(pids).filter(isAlive)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
  });

  it.each([
    ['an unknown flag', ['up', '--bear'], /unknown option '--bear'.*--bare/s],
    [
      'nothing to take down',
      ['down', '--dir', '/nowhere/at/all'],
      /there is no sandbox in \/nowhere\/at\/all\. Start one with .*up'/,
    ],
  ])('says what is wrong and what to do: %s', async (_case, args, sentence) => {
    const { code, stdout, stderr } = await runScript(cli, args);
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(sentence);
  });

  it('says what to install or provide without Go and a network, and starts nothing', async () => {
    const cache = join(folder, 'cache');
    const nowhere = { PATH: '/nonexistent', LUMIGO_SANDBOX_MIRROR: 'http://127.0.0.1:9' };
    const environment = { HOME: folder, LUMIGO_SANDBOX_CACHE: cache, ...nowhere };
    const dir = join(folder, 'no-go');
    const { code, stderr } = await runScript(cli, ['up', '--dir', dir], environment);
    expect(code).toBe(1);
    expect(stderr).toMatch(/127\.0\.0\.1:9 cannot be reached/);
    expect(stderr).toMatch(/Go is not installed .*Install Go 1\.26 or newer .*KUBEBUILDER_ASSETS/);
    expect(stderr).toMatch(/put envtest-v\S+\.tar\.gz \(from https:\S+\) into .*cache\/archives/);
    expect(existsSync(dir)).toBe(false);
  });
});
