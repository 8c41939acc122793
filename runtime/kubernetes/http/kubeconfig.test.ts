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

  it('reads a token from the file that the user names, which is relative to the kubeconfig', async () => {
    await writeFile(join(directory, 'the-token'), 'from-another-file\n');
    const path = await written('token-file', { users: [{ name: 'static', user: { tokenFile: 'the-token' } }] });
    expect(await (await fromKubeconfig({ path })).authorization()).toBe('Bearer from-another-file');
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
  });

  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws-nope', interactiveMode: 'Never' };
  const withoutCluster = [...kubeconfig.contexts, { name: 'dev', context: { namespace: 'shop' } }];
  const acting = (key: string) => ({ users: [{ name: 'static', user: { token: 'a', as: 'b', [key]: ['c'] } }] });
  const unsupported = (key: string) => `sets ${key}, which this program does not support`;
  const noneExists = [join(directory, 'none'), join(directory, 'nor-this')].join(delimiter);

  it.each<[string, object, Parameters<typeof fromKubeconfig>[0], RegExp | string]>([
    [
      'an unknown context',
      {},
      { context: 'production' },
      /has no context 'production' with a cluster\. Its contexts: staging, plugin\./,
    ],
    ['no context', { 'current-context': undefined }, {}, /sets no current context\. Its contexts: staging, plugin/],
    [
      'a context without a cluster',
      { contexts: withoutCluster },
      { context: 'dev' },
      "has no context 'dev' with a cluster.",
    ],
    [
      'no plugin',
      { users: [{ name: 'exec', user: { exec } }] },
      { context: 'plugin' },
      /needs the program 'aws-nope', which is not installed or not in PATH/,
    ],
    ['no file', {}, { path: join(directory, 'none') }, /none cannot be used: .*ENOENT/],
    ['none of several files', {}, { path: undefined, listed: noneExists }, 'nor-this does not exist'],
    ['groups of another user', acting('as-groups'), {}, unsupported('as-groups')],
    ['the uid of another user', acting('as-uid'), {}, unsupported('as-uid')],
    ['fields of another user', acting('as-user-extra'), {}, unsupported('as-user-extra')],
  ])('says what is wrong: %s [F83]', async (_what, changes, source, message) => {
    const path = await written('wrong', changes);
    await expect(fromKubeconfig({ path, ...source })).rejects.toThrow(message);
  });
});
