import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createTemporaryFolder } from '../../../sandbox/testing/temporary-folder.ts';
import { inCluster } from './credentials.ts';

const directory = createTemporaryFolder();
const write = (name: string, text: string) => writeFile(join(directory, name), text);
beforeEach(async () => {
  await write('ca.crt', 'CA');
  await write('token', 'one\n');
  await write('namespace', 'lumigo-system\n');
});

const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' };

describe('inCluster', () => {
  it('reads the files that the kubelet mounts', async () => {
    const connection = await inCluster({ directory, env });
    expect([connection.server.href, connection.ca?.(), connection.namespace]).toEqual([
      'https://10.0.0.1:6443/',
      'CA',
      'lumigo-system',
    ]);
    expect(await connection.authorization()).toBe('Bearer one');
  });

  it('reads a renewed token and authority at once, and keeps the last authority without a file', async () => {
    const connection = await inCluster({ directory, env });
    await write('token', 'two');
    await write('ca.crt', 'CA 2');
    expect([await connection.authorization(), connection.ca?.()]).toEqual(['Bearer two', 'CA 2']);
    await rm(join(directory, 'ca.crt'));
    expect(connection.ca?.()).toBe('CA 2');
  });

  it('accepts an IPv6 address', async () => {
    const connection = await inCluster({ directory, env: { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' } });
    expect(connection.server.href).toBe('https://[fd00::1]:6443/');
  });

  it('says which file is missing, and what to do outside a cluster', async () => {
    await expect(inCluster({ directory, env: {} })).rejects.toThrow(/KUBERNETES_SERVICE_HOST is not set.*--kubeconfig/);
    await expect(inCluster({ directory: join(directory, 'none'), env })).rejects.toThrow(
      /none\/(ca\.crt|token) cannot be read \(ENOENT\).*--kubeconfig/,
    );
  });
});
