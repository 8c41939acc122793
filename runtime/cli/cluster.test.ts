import { expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toKubeconfig } from '../../sandbox/control-plane/files.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import { withCluster } from './cluster.ts';
import { processShell } from './shell.ts';

const kubeconfig = join(createTemporaryFolder(), 'config');

it.each([
  [{ HTTPS_PROXY: 'http://proxy.example:3128' }, [expect.stringMatching(/^HTTPS_PROXY is set, but this program/)]],
  [{ https_proxy: 'http://proxy.example:3128' }, [expect.stringMatching(/^HTTPS_PROXY is set, but this program/)]],
  [{ HTTPS_PROXY: '' }, []],
  [{}, []],
])('a command that reaches no API server names a proxy that it does not use: %j', async (environment, expected) => {
  writeFileSync(kubeconfig, toKubeconfig('https://127.0.0.1:1', '', { token: 'a' }));
  const notes: string[] = [];
  const command = withCluster(async ({ client }) => {
    await client.find({ group: '', version: 'v1', plural: 'pods', name: 'a' });
  });
  const note = (text: string) => void notes.push(text);
  const invocation = { ...processShell(), environment, note, flags: { kubeconfig } };
  await expect(command(invocation as never)).rejects.toThrow('ECONNREFUSED');
  expect(notes).toEqual(expected);
});
