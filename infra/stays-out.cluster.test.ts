import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { workloads } from '../runtime/contract.ts';
import { startControlPlane, type ControlPlane } from '../sandbox/control-plane/control-plane.ts';
import { apply } from '../sandbox/manager/apply.ts';
import { install, type Installation } from '../sandbox/manager/install.ts';
import { ensureBinaries } from '../sandbox/programs/build.ts';
import { eventually } from '../sandbox/testing/eventually.ts';
import { workloadOf } from '../sandbox/testing/workloads.ts';
import { operatorUser } from './constructs/access.ts';

/** The admission policy of docs/security/README.md, applied as it stands there. */
let cluster: ControlPlane;
let installation: Installation;
let kubectl = '';
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  kubectl = (await ensureBinaries(['kubectl']))['kubectl'] ?? '';
  installation = await install(cluster.client, {});
  await apply(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  for (const namespace of ['shop', 'kube-system'])
    await eventually(() => apply(cluster.client, workloadOf(deployment, namespace, 'app')));
});
afterAll(() => cluster?.stop());

const [deployment] = workloads;

function run(args: readonly string[], input = ''): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(kubectl, [...args, '--kubeconfig', cluster.kubeconfig], {
    input,
    encoding: 'utf8',
  });
  return { status, stderr };
}

const patchAsOperator = (namespace: string, value: number) =>
  run([
    ...['patch', 'deployment', 'app', '-n', namespace, '--as', operatorUser(installation.settings)],
    ...['--type', 'merge', '-p', JSON.stringify({ metadata: { annotations: { value: String(value) } } })],
  ]);

describe('the admission policy of the document', () => {
  it('keeps the operator’s account out of namespaces that RBAC cannot keep it out of, and of no other', async () => {
    expect(patchAsOperator('kube-system', 1)).toEqual({ status: 0, stderr: '' });
    const policy = /```yaml\n(.*?)```/s.exec(readFileSync('docs/security/README.md', 'utf8'))?.[1] ?? '';
    expect(run(['apply', '-f', '-'], policy)).toEqual({ status: 0, stderr: '' });
    let value = 1;
    await eventually(() => {
      const { stderr } = patchAsOperator('kube-system', (value += 1));
      expect(stderr).toContain('the Lumigo operator must not change this namespace');
    });
    expect(patchAsOperator('shop', 2)).toEqual({ status: 0, stderr: '' });
  });
});
