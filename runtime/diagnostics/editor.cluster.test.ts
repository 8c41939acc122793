import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toKubeconfig } from '../../sandbox/control-plane/files.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import { withoutNodes } from '../../sandbox/manager/install.ts';
import { accountIn, type Account } from '../../sandbox/testing/account.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { lumigo as contract, workloadKinds } from '../contract.ts';

let operator: OperatorBench;
let shop: string;
let editor: Account;
let kubeconfig: string;
const { deployment } = workloadKinds;

beforeAll(async () => {
  const settings = {
    ...withoutNodes,
    name: 'own-name',
    injectorWebhook: { lumigoInjector: { image: { tag: 'own' } } },
  };
  operator = await startOperator({ settings });
  const { testCluster, cluster } = operator;
  shop = await testCluster.namespace('shop');
  editor = await accountIn(cluster, shop, 'edit');
  kubeconfig = join(cluster.dir, 'editor.kubeconfig');
  writeFileSync(kubeconfig, toKubeconfig(cluster.server, cluster.ca, { token: editor.token }), { mode: 0o600 });
  await testCluster.activate(shop);
  await testCluster.create(createWorkload(deployment, shop, 'cart'));
  await testCluster.waitForInstrumented(deployment, shop, 'cart');
  await testCluster.create(createWorkload(deployment, shop, 'out', { labels: { 'lumigo.auto-trace': 'false' } }));
  // A Kubernetes controller aggregates the operator's rules into the role asynchronously.
  await eventually(() => editor.client.get({ ...lumigoIn(shop), name: 'lumigo' }));
});
afterAll(async () => {
  editor?.close();
  await operator?.stop();
});

const lumigoIn = (namespace: string) => ({ ...contract, namespace });
const asEditor = (...args: string[]) => runCommand(['--kubeconfig', kubeconfig, ...args], { HOME: '/nonexistent' });

describe('an editor of one namespace', () => {
  it('gets an explanation there, by what the injected workload shows [F80]', async () => {
    const { code, stdout, stderr } = await asEditor('explain', 'deployment/cart', '-n', shop);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Your account cannot read the operator.s settings\. .* come from Deployment\/cart;/);
    expect(stdout).toMatch(/Next: +nothing changes/);
    expect(stdout).not.toContain('Sends to');
    const out = await asEditor('explain', 'deployment/out', '-n', shop);
    expect(out.stdout).toMatch(/Decision: +the resource has the 'lumigo.auto-trace' label set to 'false'/);
  });

  it('gets a preview there [F80]', async () => {
    const { code, stdout, stderr } = await asEditor('preview', '-n', shop);
    expect(code).toBe(0);
    expect(stderr).toContain("Your account cannot read the operator's settings");
    expect(stdout).toContain(`Namespace ${shop}: the Lumigo 'lumigo' is active`);
    expect(stdout).toMatch(/Deployment\/cart +untouched/);
  });

  it('gets a sentence about its rights elsewhere [F80]', async () => {
    const all = await asEditor('preview');
    expect(all).toMatchObject({ code: 1, stderr: expect.stringContaining('name one namespace (-n NAMESPACE)') });
    const { code, stderr } = await asEditor('explain', 'deployment/cart', '-n', 'default');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('forbidden') });
  });
});
