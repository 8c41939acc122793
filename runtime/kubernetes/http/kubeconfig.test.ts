import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createTemporaryFolder } from '../../../sandbox/testing/temporary-folder.ts';
import { fromKubeconfig } from './kubeconfig.ts';

const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'staging',
  clusters: [{ name: 'c', cluster: { server: 'https://c.example:6443/k8s', 'tls-server-name': 'inner' } }],
  contexts: [
    { name: 'staging', context: { cluster: 'c', user: 'static', namespace: 'shop' } },
    { name: 'plugin', context: { cluster: 'c', user: 'exec' } },
  ],
  users: [
    { name: 'static', user: { token: 'from-the-file', as: 'someone' } },
    {
      name: 'exec',
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: process.execPath,
          args: ['-e', `console.log('{"status":{"token":"from-the-plugin"}}')`],
          interactiveMode: 'Never',
        },
      },
    },
  ],
};

describe('fromKubeconfig', () => {
  const directory = createTemporaryFolder();
  const written = async (name: string, changes: object): Promise<string> => {
    const file = join(directory, name);
    await writeFile(file, JSON.stringify({ ...kubeconfig, ...changes }));
    return file;
  };
  const path = join(directory, 'config');
  beforeAll(() => written('config', {}));

  it('says that a file without a current context has none [F83]', async () => {
    const path = await written('no-context', { 'current-context': undefined });
    await expect(fromKubeconfig({ path })).rejects.toThrow(/sets no current context\. Its contexts: staging, plugin/);
  });

  it('names the program that a login needs and that is not installed [F83]', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws-nope', interactiveMode: 'Never' };
    const path = await written('no-plugin', { users: [{ name: 'exec', user: { exec } }] });
    await expect(fromKubeconfig({ path, context: 'plugin' })).rejects.toThrow(
      /needs the program 'aws-nope', which is not installed or not in PATH/,
    );
  });

  it('uses the current context', async () => {
    const connection = await fromKubeconfig({ path });
    expect(connection).toMatchObject({ serverName: 'inner', namespace: 'shop', insecure: false });
    expect(connection.server.href).toBe('https://c.example:6443/k8s');
    expect(connection.headers).toEqual({ 'Impersonate-User': 'someone' });
    expect(await connection.authorization()).toBe('Bearer from-the-file');
  });

  it('passes over incomplete entries of others, as kubectl does, which writes such ones', async () => {
    const clusters = [...kubeconfig.clusters, { name: 'unset', cluster: {} }];
    const contexts = [...kubeconfig.contexts, { name: 'unset', context: { namespace: 'shop' } }];
    const path = await written('incomplete', { clusters, contexts });
    expect((await fromKubeconfig({ path })).server.href).toBe('https://c.example:6443/k8s');
  });

  it('runs the plugin of a cloud', async () => {
    const connection = await fromKubeconfig({ path, context: 'plugin' });
    expect(await connection.authorization()).toBe('Bearer from-the-plugin');
  });

  it('lists the contexts that exist', () =>
    expect(fromKubeconfig({ path, context: 'production' })).rejects.toThrow(
      /has no context 'production' with a cluster\. Its contexts: staging, plugin\./,
    ));

  it('says that the chosen context has no cluster', async () => {
    const contexts = [...kubeconfig.contexts, { name: 'dev', context: { namespace: 'shop' } }];
    const path = await written('no-cluster', { contexts });
    await expect(fromKubeconfig({ path, context: 'dev' })).rejects.toThrow(/has no context 'dev' with a cluster\./);
  });

  it('names the file that cannot be read', () =>
    expect(fromKubeconfig({ path: join(directory, 'none') })).rejects.toThrow(/none cannot be used: .*ENOENT/));

  it('reads a token from the file that the user names, which is relative to the kubeconfig', async () => {
    await writeFile(join(directory, 'the-token'), 'from-another-file\n');
    const path = await written('token-file', { users: [{ name: 'static', user: { tokenFile: 'the-token' } }] });
    expect(await (await fromKubeconfig({ path })).authorization()).toBe('Bearer from-another-file');
  });

  it.each(['as-groups', 'as-uid', 'as-user-extra'])('refuses %s, because it would act as another user', async (key) => {
    const path = await written(key, { users: [{ name: 'static', user: { token: 'a', as: 'b', [key]: ['c'] } }] });
    await expect(fromKubeconfig({ path })).rejects.toThrow(`sets ${key}, which this program does not support`);
  });

  describe('with several files in KUBECONFIG', () => {
    it('takes the context and each name from the first that has it, as kubectl does', async () => {
      const clusters = [{ name: 'c', cluster: { server: 'https://production.example' } }];
      const contexts = [{ name: 'production', context: { cluster: 'c', user: 'static' } }];
      const second = await written('second', { 'current-context': 'production', clusters, contexts });
      const listed = [join(directory, 'none'), path, second].join(delimiter);
      expect((await fromKubeconfig({ listed })).server.href).toBe('https://c.example:6443/k8s');
      expect((await fromKubeconfig({ listed, context: 'production' })).server.href).toBe('https://c.example:6443/k8s');
    });

    it.each(['', '\n', '# none yet\n'])('passes over one whose content is %j', async (content) => {
      const empty = join(directory, 'empty');
      await writeFile(empty, content);
      const connection = await fromKubeconfig({ listed: [empty, path].join(delimiter) });
      expect(await connection.authorization()).toBe('Bearer from-the-file');
    });

    it('says that none of them exists', async () => {
      const listed = [join(directory, 'none'), join(directory, 'nor-this')].join(delimiter);
      await expect(fromKubeconfig({ listed })).rejects.toThrow('nor-this does not exist');
    });
  });
});
