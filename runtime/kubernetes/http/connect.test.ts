import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { createTemporaryFolder } from '../../../sandbox/testing/temporary-folder.ts';
import { connect } from './connect.ts';

const folder = createTemporaryFolder();
const inPod = { KUBERNETES_SERVICE_HOST: 'pod.example' };

it('a kubeconfig that KUBECONFIG names wins over the account of a pod, as with kubectl', async () => {
  const file = join(folder, 'config');
  const cluster = { server: 'https://named.example' };
  const kubeconfig = {
    'current-context': 'named',
    clusters: [{ name: 'c', cluster }],
    contexts: [{ name: 'named', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: { token: 'a' } }],
  };
  await writeFile(file, JSON.stringify(kubeconfig));
  const { server } = await connect({}, { ...inPod, KUBECONFIG: file });
  expect(server.href).toBe('https://named.example/');
});

it('the account of a pod is used without one', () =>
  expect(connect({}, { ...inPod, KUBECONFIG: '' })).rejects.toThrow('Found no credentials of a Kubernetes pod'));
