import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { createTemporaryFolder } from '../../../sandbox/testing/temporary-folder.ts';
import { connect } from './connect.ts';

const folder = createTemporaryFolder();
const inPod = { KUBERNETES_SERVICE_HOST: 'pod.example', HOME: join(folder, 'none') };
const file = join(folder, '.kube', 'config');

beforeAll(async () => {
  const cluster = { server: 'https://named.example' };
  const kubeconfig = {
    'current-context': 'named',
    clusters: [{ name: 'c', cluster }],
    contexts: [{ name: 'named', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: { token: 'a' } }],
  };
  await mkdir(dirname(file));
  await writeFile(file, JSON.stringify(kubeconfig));
});

it.each([
  ['that KUBECONFIG names', { KUBECONFIG: file }],
  ['in the home folder', { HOME: folder }],
])('a kubeconfig %s wins over the account of a pod, as with kubectl', async (_which, variables) => {
  const { server } = await connect({}, { ...inPod, ...variables });
  expect(server.href).toBe('https://named.example/');
});

it('the account of a pod wins over a kubeconfig in the home folder if the command names it', () =>
  expect(connect({ serviceAccount: folder }, { ...inPod, HOME: folder })).rejects.toThrow(`${folder}/ca.crt cannot`));

it('the account of a pod is used without one', () =>
  expect(connect({}, { ...inPod, KUBECONFIG: '' })).rejects.toThrow('Found no credentials of a Kubernetes pod'));
